conformance_drivers := lo lo-rdma tcp
