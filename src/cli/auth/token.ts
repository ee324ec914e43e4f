import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import { issueToken } from '../../services/auth/issue-token.ts';
import { type TokenResource, toResourceUrls, tokenLifeSeconds } from '../../services/auth/tokens.ts';
import { printing } from '../actions.ts';
import { operator, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { resultCommand } from '../output.ts';
import { scopesOption } from './scopes-option.ts';

interface TokenOptions {
  resource: TokenResource;
  scopes: Scope[];
  expiresIn: number;
}

function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= tokenLifeSeconds) return seconds;
  throw new InvalidArgumentError(`Must be 1 to ${tokenLifeSeconds} seconds.`);
}

/** `ams token …` */
export function tokenCommand(io: CommandIo): Command {
  return resultCommand('token', 'issue an access token for an agent')
    .argument('<handle>')
    .addOption(
      new Option('--resource <audience>', 'where the token is used')
        .choices(['service', 'api', 'mcp', 'ws'])
        .default('service'),
    )
    .addOption(scopesOption())
    .addOption(new Option('--expires-in <seconds>').argParser(parseSeconds).default(tokenLifeSeconds))
    .action(
      printing(io, (handle: string, { resource: audience, scopes, expiresIn: expires_in }: TokenOptions) =>
        withCore(io, async ({ unitOfWork, config, clock }) => {
          await unitOfWork.read(system, () => clock.measure());
          const resource = toResourceUrls(config.PUBLIC_URL)[audience];
          return unitOfWork.write(operator(), (work) =>
            issueToken(work, { handle, resource, scopes, expires_in }),
          );
        }),
      ),
    );
}
