import { Command, InvalidArgumentError } from 'commander';
import { runBridge, signInOnce } from '../bridge/run.ts';
import type { CommandIo } from './io.ts';
import { integerInRange } from './option-values.ts';
import { runCommands } from './run-commands.ts';

interface BridgeOptions {
  profile: string;
  browser: boolean;
  patience: number;
  signIn?: boolean;
}

const helpText = `
It signs in with what it finds first:
  AMS_TOKEN                          an access token for the tool server
  AMS_CLIENT_ID, AMS_CLIENT_SECRET   a credential of ams credential create, or of the console; AMS_SCOPES narrows it
  otherwise by browser, once; kept in the folder AMS_CONFIG_DIR, or ams in the configuration folder of the user

Standard output carries MCP and nothing else; what people should know goes to standard error.`;

/** `ams mcp-stdio` */
export function mcpStdioCommand(io: CommandIo): Command {
  return new Command('mcp-stdio')
    .description('let an MCP client that only speaks over standard input and output use the tool server')
    .argument(
      '[address]',
      'of the service or its tool server; AMS_URL, else http://localhost:3000',
      parseToolServerUrl,
    )
    .option('--profile <name>', 'keep several sign-ins apart, for example for two agents', 'default')
    .option('--no-browser', 'only print the address for signing in, and open no browser')
    .option(
      '--patience <seconds>',
      'how long to wait for a service that is away',
      integerInRange(0, 3_600),
      30,
    )
    .option('--sign-in', 'sign in, and end')
    .addHelpText('after', helpText)
    .action(async (given: URL | undefined, { profile, browser, patience, signIn }: BridgeOptions) => {
      const address =
        given ?? parseToolServerUrl(io.env['AMS_URL'] || io.env['PUBLIC_URL'] || 'http://localhost:3000');
      const options = { address, profile, opens_browser: browser, timeout_seconds: patience };
      const log = (line: string) => io.log(`ams mcp-stdio: ${line}\n`);
      const { env, input, output } = io;
      const run = signIn ? signInOnce : runBridge;
      await run(options, { env, input, output, log, interrupted: io.interruptSignal() });
    });
}

/** The address of the tool server, whether it or the service is named. */
function parseToolServerUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('Give an address like https://messages.example.com.');
  }
  url.search = '';
  url.hash = '';
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/mcp$/, '')}/mcp`;
  return url;
}

/** `ams mcp-stdio` alone, which knows nothing of the service's inside. Answers as `runCommands` does. */
export function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  return runCommands([mcpStdioCommand], args, io);
}
