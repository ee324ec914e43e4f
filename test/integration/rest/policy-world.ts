import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { createOrganization } from '../../../src/services/organizations.ts';
import { rest, type RestAnswer } from '../../support/rest-client.ts';
import { everyScope, type TestAgent, type TestService } from '../../support/service.ts';
import type { Policy, Relation, Visibility } from './policy-table.ts';

/** What the viewer does; `prepare` comes before anything relates the two. */
export interface Action {
  prepare?(world: World): Promise<string>;
  act(world: World, prepared: string): Promise<RestAnswer>;
}

export interface World {
  viewer: TestAgent;
  other: TestAgent;
}

/** A name that no other test uses, and that a search for another one does not take for a typo of it. */
export const freshName = (): string => randomBytes(12).toString('hex');

/** Makes worlds of two agents on a service, and what one of them does to the other. */
export function policyWorlds(service: TestService) {
  const post = (path: string, { token }: TestAgent, body: object) =>
    rest('POST', `${service.api}${path}`, { token, body });
  const threadOf = async (creator: TestAgent, handle: string): Promise<string> => {
    const made = await post('/threads', creator, { with_handle: handle });
    expect(made.status, made.text).toBe(201);
    return made.body.id;
  };

  const actions: Record<string, Action> = {
    'open thread': {
      act: ({ viewer, other }) => post('/threads', viewer, { with_handle: other.handle }),
    },
    'send in an open thread': {
      prepare: ({ viewer, other }) => threadOf(viewer, other.handle),
      act: ({ viewer }, thread) => post(`/threads/${thread}/messages`, viewer, { content: 'hello' }),
    },
    'bring a third one into an open thread': {
      prepare: ({ viewer, other }) => threadOf(viewer, other.handle),
      act: async ({ viewer }, thread) =>
        post(`/threads/${thread}/members`, viewer, { handle: (await service.agent()).handle }),
    },
    'be added to a group': {
      prepare: async ({ viewer }) => threadOf(viewer, (await service.agent()).handle),
      act: ({ viewer, other }, thread) =>
        post(`/threads/${thread}/members`, viewer, { handle: other.handle }),
    },
    'request contact': {
      act: ({ viewer, other }) => post('/contacts/requests', viewer, { handle: other.handle }),
    },
    'read card': {
      act: ({ viewer, other }) =>
        rest('GET', `${service.api}/agents/${other.handle.replace('.', '/')}/card`, { token: viewer.token }),
    },
    'find in search': {
      act: ({ viewer, other }) =>
        rest('GET', `${service.api}/search?q=${other.handle}`, { token: viewer.token }),
    },
  };

  function agentOf(owner: string, scope: 'personal' | 'shared'): Promise<TestAgent> {
    const handle = `${owner}.${freshName()}`;
    const create_owner = scope === 'personal';
    const settings = { scope, create_owner, visibility: 'public', inbound_policy: 'open' } as const;
    return service.register({ handle, ...settings }, { scopes: [...everyScope, 'agents:write'] });
  }

  async function pairOf(relation: Relation): Promise<World> {
    const owner = freshName();
    if (relation === 'same organization') {
      await service.core.unitOfWork.administer((work) => createOrganization(work, owner));
      return { viewer: await agentOf(owner, 'shared'), other: await agentOf(owner, 'shared') };
    }
    const otherOwner = relation === 'same owner' ? owner : freshName();
    return { viewer: await agentOf(owner, 'personal'), other: await agentOf(otherOwner, 'personal') };
  }

  /** Brings two agents into a relation while both are open and public, then gives the other one its settings. */
  async function relate(
    { viewer, other }: World,
    relation: Relation,
    policy: Policy,
    visibility: Visibility,
  ) {
    const [viewersOwner] = viewer.handle.split('.');
    const made: Partial<Record<Relation, () => Promise<RestAnswer>>> = {
      async contact() {
        const { body } = await post('/contacts/requests', viewer, { handle: other.handle });
        return post(`/contacts/requests/${body.request_id}/approve`, other, {});
      },
      'on the allowlist': () => post('/allowlist', other, { entry: viewer.handle }),
      'owner on the allowlist': () => post('/allowlist', other, { entry: `${viewersOwner}.*` }),
      'blocked by it': () => post('/blocks', other, { handle: viewer.handle }),
      'has blocked it': () => post('/blocks', viewer, { handle: other.handle }),
    };
    const answer = await made[relation]?.();
    expect(answer?.status ?? 200, answer?.text).toBeLessThan(300);
    const set = await rest('PATCH', `${service.api}/agents/${other.id}`, {
      token: other.token,
      body: { inbound_policy: policy, visibility },
    });
    expect(set.status, set.text).toBe(200);
  }

  return { actions, agentOf, pairOf, post, relate, threadOf };
}

export type PolicyWorlds = ReturnType<typeof policyWorlds>;
