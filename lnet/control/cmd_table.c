/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of the commands; each file keeps the rows of its own. */
#include "lnet/control/cmd_priv.h"

#include <string.h>

static const struct lnc_cmd *const tables[] = {lnc_cmds_lnet, lnc_cmds_net, lnc_cmds_net_show,
        lnc_cmds_peer, lnc_cmds_peer_show, lnc_cmds_ping, lnc_cmds_stats, lnc_cmds_global,
        lnc_cmds_debug, lnc_cmds_import, lnc_cmds_export, lnc_cmds_check, lnc_cmds_misc};

const struct lnc_cmd *lnc_cmd_at(unsigned i)
{
	for (size_t t = 0; t < LNC_LEN(tables); t++)
		for (const struct lnc_cmd *c = tables[t]; c->path; c++)
			if (!i--)
				return c;
	return NULL;
}

const struct lnc_cmd *lnc_cmd_find(const char *path)
{
	const struct lnc_cmd *c;

	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++)
		if (!strcmp(c->path, path))
			return c;
	return NULL;
}
