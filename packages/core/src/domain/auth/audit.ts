import type { Actor, Person } from './actor.ts';

/** Changes of trust and administration that the audit log records. */
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
  'contact_request.withdrawn',
  'credential.created',
  'credential.revoked',
  'credential.rotated',
  'feeds.restored',
  'identity.connected',
  'identity.disconnected',
  'invitation.created',
  'invitation.revoked',
  'member.changed',
  'member.invitation_declined',
  'member.invitation_revoked',
  'member.invited',
  'member.removed',
  'organization.founded',
  'owner.renamed',
  'password.changed',
  'remote_invitation.created',
  'remote_invitation.ended',
  'remote_invitation.redeemed',
  'remote_agent.added',
  'remote_agent.changed',
  'remote_agent.confirmed',
  'remote_agent.removed',
  'secrets.reencrypted',
  'sessions.ended',
  'sign_in.failed',
  'sign_in.succeeded',
  'signing_key.removed',
  'signing_key.rotated',
  'subscription.ended',
  'token.issued',
  'watch_link.created',
  'watch_link.ended',
  'webhook.changed',
  'webhook.created',
  'webhook.removed',
  'webhook.secret_rotated',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** The kinds of actions on agents and organizations. */
const kindPatterns = {
  agents: /^agent\.(?!(?:un)?blocked)|^remote_agent\./,
  access: /^(?:credential|connection|token|watch_link)\./,
  contacts: /^(?:contact|contact_request|allowlist)\.|^agent\.(?:un)?blocked/,
  approvals: /^approval\./,
  webhooks: /^(?:webhook|subscription)\./,
  organizations: /^(?:member|organization)\./,
} as const;

export type AuditKind = keyof typeof kindPatterns;

export const auditKinds = Object.keys(kindPatterns) as [AuditKind, ...AuditKind[]];

/** The actions of a kind. */
export function actionsOfKind(kind: AuditKind): AuditAction[] {
  return auditActions.filter((action) => kindPatterns[kind].test(action));
}

/** One audit entry. It never holds a secret or message content. */
export interface AuditEntry {
  act: AuditAction;
  /** The agent that the change concerns. */
  agent_id?: string;
  /** The account that the change concerns. */
  account_id?: string;
  /** The object of the change: a handle, an id or a name. */
  about?: string;
  detail?: Readonly<Record<string, string | number | boolean | readonly string[] | null>>;
}

/** The author of a change, and the transport. */
export interface Author {
  kind: 'agent' | 'person' | 'operator' | 'service';
  /** The id of the agent or account; for an operator, the name of the operating system user. */
  id: string | null;
  transport: 'rest' | 'mcp' | 'ws' | 'console' | 'command line' | 'service';
  client_id: string | null;
}

/** The author of changes that the service makes by itself. */
export const system: Author = { kind: 'service', id: null, transport: 'service', client_id: null };

/** The author of a change that a person makes in the console. */
export function authorFromPerson({ account_id }: Pick<Person, 'account_id'>): Author {
  return { kind: 'person', id: account_id, transport: 'console', client_id: null };
}

/** The author of a change from the command line. */
export function authorFromOperator(name: string): Author {
  return { kind: 'operator', id: name, transport: 'command line', client_id: null };
}

/** The author of a change that an agent makes: through a token, or its person in the console. */
export function authorFromActor({ agent_id, account_id, client_id, resource }: Actor): Author {
  if (account_id !== undefined) return authorFromPerson({ account_id });
  const name = resource.slice(resource.lastIndexOf('/') + 1);
  return {
    kind: 'agent',
    id: agent_id,
    transport: name === 'mcp' || name === 'ws' ? name : 'rest',
    client_id,
  };
}
