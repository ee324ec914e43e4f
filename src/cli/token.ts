import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Scope } from '../domain/scopes.ts';
import { issueToken } from '../services/issue-token.ts';
import { type Door, resourceAddresses, tokenLife_s } from '../services/tokens.ts';
import { printResult, resultCommand } from './command.ts';
import { withCore } from './core.ts';
import type { CommandIo } from './io.ts';
import { scopesOption } from './scopes.ts';

interface TokenOptions {
  resource: Door;
  scopes: Scope[];
  expiresIn: number;
  json?: boolean;
}

function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= tokenLife_s) return seconds;
  throw new InvalidArgumentError(`Give 1 to ${tokenLife_s} seconds.`);
}

/** `ams token …` */
export function tokenCommand(io: CommandIo): Command {
  return resultCommand('token', 'issue an access token for an agent')
    .argument('<handle>')
    .addOption(
      new Option('--resource <door>', 'where it will be used').choices(['api', 'mcp', 'ws']).default('api'),
    )
    .addOption(scopesOption())
    .addOption(new Option('--expires-in <seconds>').argParser(parseSeconds).default(tokenLife_s))
    .action(async (handle: string, options: TokenOptions) => {
      const token = await withCore(io, ({ unitOfWork, config }) => {
        const resource = resourceAddresses(config.PUBLIC_URL)[options.resource];
        const { scopes, expiresIn: expires_in } = options;
        return unitOfWork.administer((work) => issueToken(work, { handle, resource, scopes, expires_in }));
      });
      printResult(io, options, token);
    });
}
