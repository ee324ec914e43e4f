import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import type { Visibility } from '../../../packages/core/src/domain/agents/agents.ts';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import { fakeService } from '../../../packages/client/src/testing/fake-service.ts';
import { openApproval } from '../../../src/services/approvals/approvals.ts';
import { startService } from '../../support/service.ts';

export interface ContractAgentOptions {
  visibility?: Visibility;
  inbound_policy?: 'contacts_only' | 'trusted_only' | 'allowlist' | 'open';
  scopes?: readonly Scope[];
  /** The name of an earlier agent with the same owner. */
  owner?: string;
}

export interface ContractAgent {
  id: string;
  handle: string;
  token: string;
}

export interface ContractApproval {
  action: 'request_contact' | 'remove_contact';
  target: string;
  message?: string;
}

/** A service, real or fake, as the contract tests see it. */
export interface ContractService {
  url: string;
  agent(handle: string, options: ContractAgentOptions): Promise<ContractAgent>;
  token(handle: string, scopes: readonly Scope[]): Promise<string>;
  /** Requests an approval as a tool call does. Returns its id. */
  requestApproval(handle: string, subject: ContractApproval): Promise<string>;
  stop(): Promise<void>;
}

/** The real service with a worker, whose webhooks can reach this machine. */
export async function startRealService(): Promise<ContractService> {
  const service = await startService({ worker: true, env: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
  return {
    url: service.url,
    agent(handle, { owner, scopes, ...options }) {
      const { visibility = 'public', inbound_policy = 'open' } = options;
      const agent = {
        handle,
        visibility,
        inbound_policy,
        ...(owner === undefined && { create_owner: true }),
      };
      return service.register(agent, scopes && { scopes });
    },
    token: (handle, scopes) => service.token(handle, { scopes }),
    requestApproval: (handle, { action, target, message }) =>
      service.core.unitOfWork.write(system, async (work) => {
        const agent = await work.db.agents.findByHandle(handle);
        const detail = { message };
        const approval = await openApproval(work, { agent_id: agent?.id ?? '', action, target, detail });
        return approval?.id ?? '';
      }),
    async stop() {
      await service.stop();
    },
  };
}

/** The fake service of the client package. */
export async function startFakeService(): Promise<ContractService> {
  const service = await fakeService();
  return {
    url: service.url,
    async agent(handle, { owner: _owner, ...options }) {
      return service.agent(handle, { visibility: 'public', ...options });
    },
    token: async (handle, scopes) => service.token(handle, { scopes }),
    requestApproval: async (handle, subject) => service.requestApproval(handle, subject).id,
    stop: service.stop,
  };
}
