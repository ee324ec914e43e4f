import type { Account, Client, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { agentOf } from './clients/clients.ts';
import type { OAuthStorage } from '../../services/auth/oauth-storage.ts';

/** Account and grant lookup for the provider. Its account is the agent that the person chose. */
export function accountConfiguration(
  storage: Pick<OAuthStorage, 'findAgent'>,
): Pick<Configuration, 'findAccount' | 'loadExistingGrant'> {
  return {
    async findAccount(_ctx, agentId): Promise<Account | undefined> {
      const agent = await storage.findAgent(agentId);
      if (!agent) return undefined;
      return { accountId: agent.id, handle: agent.canonical_handle, claims: () => ({ sub: agent.id }) };
    },
    async loadExistingGrant({ oidc }) {
      const { grantId } = oidc.result?.consent ?? {};
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
  };
}

/** The claims of every access token: the agent that it acts as. Introspection returns them. */
export function tokenClaims({ oidc }: KoaContextWithOIDC): { sub: string; handle: string } | undefined {
  const { account, client } = oidc;
  if (account) return { sub: account.accountId, handle: String(account['handle']) };
  return client && clientClaims(client);
}

function clientClaims(client: Client): { sub: string; handle: string } | undefined {
  const agent = agentOf(client);
  return agent && { sub: agent.agent_id, handle: agent.agent_handle };
}
