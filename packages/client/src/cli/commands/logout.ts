import { Command } from 'commander';
import { removeSignIn } from '../../node/main.ts';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';

/** `am logout` */
export function logoutCommand(io: CommandIo): Command {
  return new Command('logout')
    .description('end the sign-in of this profile, here and at the service')
    .addHelpText('after', '\nExamples:\n  $ am logout\n  $ am logout --profile work')
    .action(async (_options: object, command: Command) => {
      const { selected, output } = createContext(io, command);
      const stored = await removeSignIn(selected);
      const isRevoked = stored?.refresh_token !== undefined && (await revoke(stored.url, stored));
      output.show({ profile: selected.profile, signed_out: stored !== undefined, revoked: isRevoked }, () => {
        if (!stored) return `the profile ${selected.profile} was not signed in`;
        const rest = isRevoked || stored.refresh_token === undefined ? '' : '; the service could not be told';
        return `signed out of ${stored.url}${rest}`;
      });
    });
}

/** Ends the sign-in at the service (RFC 7009). The file is gone in any case. */
async function revoke(
  url: string,
  { client_id, refresh_token = '' }: { client_id: string; refresh_token?: string },
) {
  const body = new URLSearchParams({ client_id, token: refresh_token, token_type_hint: 'refresh_token' });
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(`${url}/revoke`, { method: 'POST', body, signal }).catch(() => undefined);
  return response?.ok ?? false;
}
