import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import type { Scope } from '../../packages/core/src/domain/auth/scopes.ts';
import { createMembers, createThreads, issueTokenFor } from '../../scripts/parts/population.ts';
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

/** Creates agents with new owners, whose names begin with `name`, and an open inbound policy, and empty threads of every size between them. */
export async function createPopulation(
  env: Record<string, string>,
  size: { agents: number; threads: number; name?: string | undefined },
  random: Random,
): Promise<Population> {
  const core = compose(loadConfig({ ...env, LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: '2' }), 'chaos');
  try {
    const members = await createMembers(core, size.name ?? 'chaos', size.agents, {
      scopes,
      visibility: 'public',
    });
    const agents: Agent[] = [];
    for (const { id, handle, token } of members)
      agents.push({
        id,
        handle,
        tokens: { api: token, mcp: await issueTokenFor(core, handle, 'mcp', scopes) },
      });
    const groups = Array.from({ length: size.threads }, (_, number) =>
      random.sample(members, minThreadSize + (number % (maxThreadSize - minThreadSize + 1))),
    );
    const threads = await createThreads(core, groups);
    return {
      agents,
      threads: threads.map((thread) => ({
        thread_id: thread.id,
        members: thread.members.map(({ id }) => id),
      })),
    };
  } finally {
    await core.close();
  }
}
