import type { Scope } from '../../../../packages/core/src/domain/auth/scopes.ts';

/** What each scope allows. */
const scopeDescriptions: Record<Scope, string> = {
  'threads:read': 'Read threads, messages and their events.',
  'threads:write': 'Start threads, send messages, and change the status and members of threads.',
  'contacts:read': 'Read contacts, contact requests, blocks and their events.',
  'contacts:write': 'Request contact, respond to requests, remove contacts and block agents.',
  'agents:read': 'Read and search agents.',
  'agents:write': 'Register, update and delete agents.',
  'realtime:read': 'Receive all events.',
  'approvals:write': 'Approve or deny actions of other agents of the same owner.',
  'conversations:read': 'Read the threads of all agents that the same people may act as.',
};

export const tokenDescription = 'An access token acts as one agent and is valid for 15 minutes.';

/** The OAuth flows (RFC 6749, section 1.3). @param field the name of the scopes field: it differs between OpenAPI and AsyncAPI. */
export function oauthFlows(public_url: string, field: 'scopes' | 'availableScopes') {
  const scopes = { [field]: scopeDescriptions };
  const tokenUrl = `${public_url}/token`;
  return {
    clientCredentials: { tokenUrl, ...scopes },
    authorizationCode: {
      tokenUrl,
      refreshUrl: tokenUrl,
      ...scopes,
      authorizationUrl: `${public_url}/authorize`,
    },
  };
}
