import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { basicScopes } from '../../packages/core/src/domain/auth/scopes.ts';
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
/** By the variable of its token. Bob can be found, and read what any agent writes. */
const agents: Readonly<Record<string, OperatorRegistration>> = {
  ADA: { handle: `${username}.writer` },
  BOB: { handle: 'bob.reader', create_owner: true, visibility: 'public', inbound_policy: 'open' },
};

/** `ams quickstart`: what is missing is created, so that a second call renews the tokens. */
export function quickstartCommand(io: CommandIo): Command {
  const [writer, reader] = Object.values(agents).map(({ handle }) => handle);
  return resultCommand(
    'quickstart',
    `create ${writer} and ${reader} for a first conversation, and print their tokens as variables of a shell`,
  ).action(({ json = false }: { json?: boolean }) =>
    withCore(io, async ({ unitOfWork, config, clock }) => {
      const password = randomBytes(12).toString('base64url');
      const password_hash = await hashPassword(password, username);
      await unitOfWork.read(system, () => clock.measure());
      const resource = toResourceUrls(config.PUBLIC_URL).service;
      const created = await unitOfWork.write(operator(), async (work) => {
        const isNew = (await work.db.owners.find(username)) === undefined;
        if (isNew) await createAccount(work, { username, password_hash });
        const tokens: Record<string, string> = {};
        for (const [variable, agent] of Object.entries(agents)) {
          if (!(await work.db.agents.findByHandle(agent.handle))) await registerAgentAsOperator(work, agent);
          const input = { handle: agent.handle, resource, scopes: basicScopes, expires_in: tokenLifeSeconds };
          tokens[variable] = (await issueToken(work, input)).access_token;
        }
        return { account: isNew ? { username, password } : { username }, tokens };
      });
      if (json) return io.print(formatJson({ ...created.account, ...created.tokens }));
      const variables = Object.entries(created.tokens).map((pair) => pair.join('='));
      io.print(`export ${variables.join(' ')}\n`);
      const shownPassword = created.account.password ?? 'of the first call';
      io.log(`sign in at ${config.PUBLIC_URL} as ${username} with the password ${shownPassword}\n`);
    }),
  );
}
