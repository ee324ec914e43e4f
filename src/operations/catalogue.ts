import type { Operation } from './define.ts';
import { operations } from './list.ts';

/** Everything an agent can do. REST routes, MCP tools and resources, and the OpenAPI document are loops over this list. */
export const catalogue: readonly Operation[] = operations;

/** The operations that the setting REMOTE_AGENTS turns on. */
export const remoteOperations = catalogue.filter(({ rest }) => rest?.path.startsWith('/remote-agents'));
