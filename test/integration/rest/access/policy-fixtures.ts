import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { createOrganization } from '../../../../src/services/people/organizations.ts';
import { type RestResponse } from '../../../clients/rest.ts';
import { allTestScopes, type TestAgent, type TestService } from '../../../support/service.ts';
import type { Policy, Relation, Visibility } from './policy-table.ts';

/** The action of the viewer; `prepare` runs before the two are related. */
export interface PolicyAction {
  prepare?(pair: AgentPair): Promise<string>;
  act(pair: AgentPair, prepared: string): Promise<RestResponse>;
}

export interface AgentPair {
  viewer: TestAgent;
  target: TestAgent;
}

/** A name that no other test uses, and that a search for another name does not match as a typo. */
export const newAgentName = (): string => randomBytes(12).toString('hex');

/** Creates pairs of agents on a service, and the actions of one agent on the other. */
export function createPolicyFixtures(service: TestService) {
  const post = (path: string, { token }: TestAgent, body: object) => service.post({ token }, path, body);
  const createThread = async (creator: TestAgent, handle: string): Promise<string> => {
    const created = await post('/threads', creator, { with_handle: handle });
    expect(created.status, created.text).toBe(201);
    return created.body.id;
  };

  const actions: Record<string, PolicyAction> = {
    'open thread': {
      act: ({ viewer, target }) => post('/threads', viewer, { with_handle: target.handle }),
    },
    'send in an open thread': {
      prepare: ({ viewer, target }) => createThread(viewer, target.handle),
      act: ({ viewer }, thread) => post(`/threads/${thread}/messages`, viewer, { content: 'hello' }),
    },
    'add a third agent to an open thread': {
      prepare: ({ viewer, target }) => createThread(viewer, target.handle),
      act: async ({ viewer }, thread) =>
        post(`/threads/${thread}/members`, viewer, { handle: (await service.agent()).handle }),
    },
    'be added to a group': {
      prepare: async ({ viewer }) => createThread(viewer, (await service.agent()).handle),
      act: ({ viewer, target }, thread) =>
        post(`/threads/${thread}/members`, viewer, { handle: target.handle }),
    },
    'request contact': {
      act: ({ viewer, target }) => post('/contacts/requests', viewer, { handle: target.handle }),
    },
    'read card': {
      act: ({ viewer, target }) => service.get(viewer, `/agents/${target.handle.replace('.', '/')}/card`),
    },
    'find in search': {
      act: ({ viewer, target }) => service.get(viewer, `/search?q=${target.handle}`),
    },
  };

  function createAgent(owner: string, scope: 'personal' | 'shared'): Promise<TestAgent> {
    const handle = `${owner}.${newAgentName()}`;
    const create_owner = scope === 'personal';
    const settings = { scope, create_owner, visibility: 'public', inbound_policy: 'open' } as const;
    return service.register({ handle, ...settings }, { scopes: [...allTestScopes, 'agents:write'] });
  }

  async function createPair(relation: Relation): Promise<AgentPair> {
    const owner = newAgentName();
    if (relation === 'same organization') {
      await service.write((work) => createOrganization(work, owner));
      return { viewer: await createAgent(owner, 'shared'), target: await createAgent(owner, 'shared') };
    }
    const otherOwner = relation === 'same owner' ? owner : newAgentName();
    return {
      viewer: await createAgent(owner, 'personal'),
      target: await createAgent(otherOwner, 'personal'),
    };
  }

  /** Relates two agents while both are open and public, then applies the settings of the target. */
  async function relate(
    { viewer, target }: AgentPair,
    relation: Relation,
    policy: Policy,
    visibility: Visibility,
  ) {
    const [viewersOwner] = viewer.handle.split('.');
    const created: Partial<Record<Relation, () => Promise<RestResponse>>> = {
      async contact() {
        const { body } = await post('/contacts/requests', viewer, { handle: target.handle });
        return post(`/contacts/requests/${body.request_id}/approve`, target, {});
      },
      'on the allowlist': () => post('/allowlist', target, { entry: viewer.handle }),
      'owner on the allowlist': () => post('/allowlist', target, { entry: `${viewersOwner}.*` }),
      'blocked by it': () => post('/blocks', target, { handle: viewer.handle }),
      'has blocked it': () => post('/blocks', viewer, { handle: target.handle }),
    };
    const answer = await created[relation]?.();
    expect(answer?.status ?? 200, answer?.text).toBeLessThan(300);
    const set = await service.patch(target, `/agents/${target.id}`, { inbound_policy: policy, visibility });
    expect(set.status, set.text).toBe(200);
  }

  return { actions, agentOf: createAgent, pairOf: createPair, post, relate, threadOf: createThread };
}

export type PolicyFixtures = ReturnType<typeof createPolicyFixtures>;
