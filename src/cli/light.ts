import type { CommandIo } from './io.ts';
import { mcpStdioCommand } from './mcp-stdio.ts';
import { runCommands } from './run-commands.ts';
import { startCommand } from './start.ts';

/** Runs `ams mcp-stdio`, `ams start` or `ams --version` without loading the service. Returns the exit code of `runCommands`. */
export function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  return runCommands([mcpStdioCommand, startCommand], args, io);
}
