import { mcpStdioCommand as createCommand } from '../../packages/client/src/cli/commands/mcp-stdio.ts';
import type { Command } from 'commander';
import type { CommandIo } from './io.ts';

/**
 * `ams mcp-stdio`, an alias of `am mcp-stdio`, which comes without the service. Both have the same options, environment and saved
 * sign-ins, so that configurations of MCP clients continue to work.
 */
export function mcpStdioCommand(io: CommandIo): Command {
  return createCommand(io, 'ams');
}
