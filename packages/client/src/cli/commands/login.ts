import { Command } from 'commander';
import { createClient, type StoredSignIn, writeSignIn } from '../../node/main.ts';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { parseUrl } from '../options.ts';
import { readCredentials } from '../profile.ts';
import { signInWithBrowser } from '../sign-in/browser.ts';

interface Options {
  url?: string;
  clientId?: string;
  browser: boolean;
  scopes?: string;
}

/** `am login` */
export function loginCommand(io: CommandIo): Command {
  return new Command('login')
    .description('sign in with a browser, or with a client credential from the environment')
    .option('--url <url>', 'address of the service; default: AMS_URL, or http://localhost:3000', parseUrl)
    .option('--client-id <id>', 'a registered client; default: the client of the command line')
    .option('--scopes <scopes>', 'scopes, separated by spaces; default: those of threads and contacts')
    .option('--no-browser', 'only print the address of the sign-in page')
    .addHelpText(
      'after',
      '\nWith AMS_CLIENT_ID and AMS_CLIENT_SECRET in the environment, no browser is needed.\n\nExamples:\n  $ am login --url https://messages.example.com\n  $ am login --profile work',
    )
    .action(async (options: Options, command: Command) => {
      const { selected, output } = createContext(io, command);
      const url = options.url ?? parseUrl(io.env['AMS_URL'] || 'http://localhost:3000');
      const credentials = readCredentials(io.env);
      const signIn = credentials
        ? { url, client_id: credentials.clientId, client_secret: credentials.clientSecret }
        : await signInWithBrowser(io, {
            url,
            scopes: options.scopes ?? 'threads:read threads:write contacts:read contacts:write',
            opensBrowser: options.browser,
            ...(options.clientId !== undefined && { clientId: options.clientId }),
          });
      const { canonical_handle } = await check(signIn);
      await writeSignIn(signIn, selected);
      const result = { profile: selected.profile, url, handle: canonical_handle };
      output.show(result, () => `signed in at ${url} as ${output.style('bold', canonical_handle)}`);
    });
}

/** Whether the service accepts the sign-in, before it is stored. */
function check({ url, access_token, client_id, client_secret }: StoredSignIn) {
  const auth = access_token ?? { clientId: client_id, clientSecret: client_secret ?? '' };
  return createClient({ url, auth }).agents.getMe();
}
