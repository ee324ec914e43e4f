import type { Readable, Writable } from 'node:stream';
import { Command, InvalidArgumentError } from 'commander';
import { integerInRange } from '../integer-in-range.ts';

/** What the bridge uses of a command line: that of `am`, or of `ams`, which has it as an alias. */
export interface BridgeCommandIo {
  env: Record<string, string | undefined>;
  input: Readable;
  output: Writable;
  log(text: string): void;
  interruptSignal(): AbortSignal;
}

interface BridgeOptions {
  profile: string;
  browser: boolean;
  timeout: number;
  signIn?: boolean;
}

const helpText = `
The command signs in with the first of these:
  AMS_TOKEN                          an access token for the MCP server
  AMS_CLIENT_ID, AMS_CLIENT_SECRET   a credential from "ams credential create" or the console; AMS_SCOPES limits its scopes
  a browser                          once; the sign-in is saved in AMS_CONFIG_DIR, or in "ams" in the user's configuration folder

Standard output carries only MCP messages. Notes and errors go to standard error.`;

/**
 * `am mcp-stdio`
 * @param program the command line to which the command belongs, for its notes
 */
export function mcpStdioCommand(io: BridgeCommandIo, program: 'am' | 'ams'): Command {
  return new Command('mcp-stdio')
    .description('connect an MCP client over standard input and output to the MCP server')
    .argument(
      '[address]',
      'URL of the service or of its MCP server; default: AMS_URL, PUBLIC_URL, or http://localhost:3000',
      parseToolServerUrl,
    )
    .option('--profile <name>', 'separate saved sign-ins, for example for two agents', 'default')
    .option('--no-browser', 'only print the sign-in URL; do not open a browser')
    .option(
      '--timeout <seconds>',
      'how long to retry while the service is unavailable',
      integerInRange(0, 3_600),
      30,
    )
    .option('--sign-in', 'sign in and exit')
    .addHelpText('after', `${helpText}\n\nExamples:\n  $ ${program} mcp-stdio http://localhost:3000`)
    .action(async (argument: URL | undefined, { profile, browser, timeout, signIn }: BridgeOptions) => {
      // The SDK takes a while to load.
      const { runBridge, signInOnce } = await import('../../bridge/run.ts');
      const address =
        argument ?? parseToolServerUrl(io.env['AMS_URL'] || io.env['PUBLIC_URL'] || 'http://localhost:3000');
      const options = { address, profile, opens_browser: browser, timeout_seconds: timeout };
      const log = (line: string) => io.log(`${program} mcp-stdio: ${line}\n`);
      const { env, input, output } = io;
      const run = signIn ? signInOnce : runBridge;
      await run(options, { env, input, output, log, interrupted: io.interruptSignal() });
    });
}

/** Returns the URL of the MCP server, from its own URL or that of the service. */
function parseToolServerUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('Must be a URL such as https://messages.example.com.');
  }
  url.search = '';
  url.hash = '';
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/mcp$/, '')}/mcp`;
  return url;
}
