import type { CommandIo } from './io.ts';
import { mcpStdioCommand } from './mcp-stdio.ts';
import { runCommands } from './run-commands.ts';

/** `ams mcp-stdio` alone, which knows nothing of the service's inside. Answers as `runCommands` does. */
export function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  return runCommands([mcpStdioCommand], args, io);
}
