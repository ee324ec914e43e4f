import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { newId } from '../../packages/core/src/domain/ids.ts';
import type { Scope } from '../../packages/core/src/domain/auth/scopes.ts';
import { registerAgentAsOperator } from '../../src/services/agents/operator-registration.ts';
import { issueToken } from '../../src/services/auth/issue-token.ts';
import { toResourceUrls, tokenLifeSeconds } from '../../src/services/auth/tokens.ts';
import type { Random } from '../random.ts';

export interface Agent {
  id: string;
  handle: string;
  tokens: { api: string; mcp: string };
}

export interface Population {
  agents: Agent[];
  threads: { thread_id: string; members: string[] }[];
}

const minThreadSize = 2;
export const maxThreadSize = 8;

const scopes: Scope[] = [
  'threads:read',
  'threads:write',
  'contacts:read',
  'contacts:write',
  'agents:write',
  'realtime:read',
];

/** Creates agents with new owners and an open inbound policy, and empty threads of every size between them. */
export async function createPopulation(
  env: Record<string, string>,
  size: { agents: number; threads: number },
  random: Random,
): Promise<Population> {
  const core = compose(loadConfig({ ...env, LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: '2' }), 'chaos');
  const resources = toResourceUrls(core.config.PUBLIC_URL);
  try {
    return await core.unitOfWork.write(system, async (work) => {
      const issue = async (handle: string, resource: string) =>
        (await issueToken(work, { handle, resource, scopes, expires_in: tokenLifeSeconds })).access_token;
      const agents: Agent[] = [];
      for (let number = 1; number <= size.agents; number += 1) {
        const handle = `chaos-${number}.agent`;
        const { id } = await registerAgentAsOperator(work, {
          handle,
          create_owner: true,
          inbound_policy: 'open',
          visibility: 'public',
        });
        const tokens = { api: await issue(handle, resources.api), mcp: await issue(handle, resources.mcp) };
        agents.push({ id, handle, tokens });
      }
      const threads: Population['threads'] = [];
      for (let number = 0; number < size.threads; number += 1) {
        const count = minThreadSize + (number % (maxThreadSize - minThreadSize + 1));
        const members = random.sample(agents, count).map(({ id }) => id);
        const thread_id = newId('thread');
        await work.db.threads.insert({
          id: thread_id,
          subject: null,
          created_by: members[0] ?? '',
          metadata: {},
          created_at: work.now,
          member_ids: members,
        });
        threads.push({ thread_id, members });
      }
      return { agents, threads };
    });
  } finally {
    await core.close();
  }
}
