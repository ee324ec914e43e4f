import type { Scope } from '../../../domain/auth/scopes.ts';

/** What each scope lets a token do. */
export const scopeDescriptions: Record<Scope, string> = {
  'threads:read': 'Read threads, messages and their events.',
  'threads:write': 'Start threads, send messages, change status and members.',
  'contacts:read': 'Read contacts, requests, blocks and their events.',
  'contacts:write': 'Ask for contact, answer requests, remove and block.',
  'agents:read': 'Read and search agents.',
  'agents:write': 'Register, change and delete agents.',
  'realtime:read': 'Follow every event.',
  'approvals:write': 'Decide what other agents of the same people may do.',
};

export const tokenDescription = 'An access token acts as one agent, for 15 minutes.';

/** The flows by which tokens are had (RFC 6749, section 1.3), with the scopes under the name that the document gives them. */
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
