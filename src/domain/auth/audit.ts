import type { Actor, Person } from './actor.ts';

/** Acts of trust and administration that are kept in the audit log. */
export const auditActions = [
  'account.opened',
  'agent.blocked',
  'agent.changed',
  'agent.erased',
  'agent.erasure_begun',
  'agent.export_begun',
  'agent.export_fetched',
  'agent.exported',
  'agent.registered',
  'agent.retired',
  'agent.unblocked',
  'allowlist.added',
  'allowlist.removed',
  'approval.decided',
  'connection.ended',
  'connection.granted',
  'contact.removed',
  'contact.requested',
  'contact_request.approved',
  'contact_request.rejected',
  'credential.created',
  'credential.revoked',
  'feeds.restored',
  'identity.connected',
  'identity.disconnected',
  'invitation.created',
  'invitation.revoked',
  'member.changed',
  'member.removed',
  'organization.founded',
  'password.changed',
  'sessions.ended',
  'sign_in.failed',
  'sign_in.succeeded',
  'signing_key.removed',
  'signing_key.rotated',
  'token.issued',
  'webhook.changed',
  'webhook.created',
  'webhook.removed',
  'webhook.secret_rotated',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** What was done, and to whom. Never a secret, and nothing of what agents say to each other. */
export interface AuditEntry {
  act: AuditAction;
  /** The agent whose trust or administration it concerns. */
  agent_id?: string;
  /** The person whom it concerns. */
  account_id?: string;
  /** About whom or what: a handle, an id, a name. */
  about?: string;
  detail?: Readonly<Record<string, string | number | boolean | readonly string[] | null>>;
}

/** Who does it, and through which door. */
export interface Author {
  kind: 'agent' | 'person' | 'operator' | 'service';
  /** Of the agent or account; the name of an operator on the machine. */
  id: string | null;
  door: 'rest' | 'mcp' | 'ws' | 'console' | 'command line' | 'service';
  client_id: string | null;
}

/** For what nobody asked for just now. */
export const serviceAuthor: Author = { kind: 'service', id: null, door: 'service', client_id: null };

/** Somebody in the console. */
export function authorFromPerson({ account_id }: Pick<Person, 'account_id'>): Author {
  return { kind: 'person', id: account_id, door: 'console', client_id: null };
}

/** Whoever runs the command line. */
export function authorFromOperator(name: string): Author {
  return { kind: 'operator', id: name, door: 'command line', client_id: null };
}

/** An agent through one of its tokens, or its person, who acts as it in the console. */
export function authorFromActor({ agent_id, account_id, client_id, resource }: Actor): Author {
  if (account_id !== undefined) return authorFromPerson({ account_id });
  const place = resource.slice(resource.lastIndexOf('/') + 1);
  const door = place === 'mcp' || place === 'ws' ? place : 'rest';
  return { kind: 'agent', id: agent_id, door, client_id };
}
