import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { basicScopes } from '../../packages/core/src/domain/auth/scopes.ts';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import {
  type OperatorRegistration,
  registerAgentAsOperator,
} from '../services/agents/operator-registration.ts';
import { issueToken } from '../services/auth/issue-token.ts';
import { toResourceUrls, tokenLifeSeconds } from '../services/auth/tokens.ts';
import { createAccount } from '../services/people/accounts.ts';
import { hashPassword } from '../services/people/passwords.ts';
import { operator, withCore } from './core.ts';
import type { CommandIo } from './io.ts';
import { formatJson, resultCommand } from './output.ts';

const username = 'ada';
/** Keyed by the shell variable of the token. Bob is public and accepts messages from any agent. */
const agents: Readonly<Record<string, OperatorRegistration>> = {
  ADA: { handle: `${username}.writer` },
  BOB: { handle: 'bob.reader', create_owner: true, visibility: 'public', inbound_policy: 'open' },
};

/**
 * Creates the agent, and for Ada an account that can sign in. An agent with this handle is used as it is.
 * @throws {DomainError} DUPLICATE_HANDLE: the owner exists without this agent.
 */
async function ensureAgent(
  work: Parameters<typeof registerAgentAsOperator>[0],
  agent: OperatorRegistration,
  password_hash: string | null,
): Promise<void> {
  if (await work.db.agents.findByHandle(agent.handle)) return;
  const [owner = ''] = agent.handle.split('.');
  if (await work.db.owners.find(owner)) {
    const message = `${owner} exists, without the agent ${agent.handle}. Use agents of your own: ams agent create`;
    throw new DomainError('DUPLICATE_HANDLE', message);
  }
  if (owner === username) await createAccount(work, { username, password_hash });
  await registerAgentAsOperator(work, agent);
}

/** `ams quickstart`: creates what is missing. A second call only renews the tokens. */
export function quickstartCommand(io: CommandIo): Command {
  const [writer, reader] = Object.values(agents).map(({ handle }) => handle);
  return resultCommand(
    'quickstart',
    `create ${writer} with an account, and ${reader}, for a first conversation; print their tokens as shell variables`,
  ).action(({ json = false }: { json?: boolean }) =>
    withCore(io, async ({ unitOfWork, config, clock }) => {
      await unitOfWork.read(system, () => clock.measure());
      const person = await unitOfWork.read(system, ({ db }) => db.owners.find(username));
      const password = person ? undefined : randomBytes(12).toString('base64url');
      const password_hash = password === undefined ? null : await hashPassword(password, username);
      const resource = toResourceUrls(config.PUBLIC_URL).service;
      const tokens = await unitOfWork.write(operator(), async (work) => {
        const issued: Record<string, string> = {};
        for (const [variable, agent] of Object.entries(agents)) {
          await ensureAgent(work, agent, password_hash);
          const input = { handle: agent.handle, resource, scopes: basicScopes, expires_in: tokenLifeSeconds };
          issued[variable] = (await issueToken(work, input)).access_token;
        }
        return issued;
      });
      if (json) return io.print(formatJson({ username, password, ...tokens }));
      const variables = Object.entries(tokens).map((pair) => pair.join('='));
      io.print(`export ${variables.join(' ')}\n`);
      const how = person
        ? `its password; ams account password ${username} sets one`
        : `the password ${password}`;
      io.log(`sign in at ${config.PUBLIC_URL} as ${username} with ${how}\n`);
    }),
  );
}
