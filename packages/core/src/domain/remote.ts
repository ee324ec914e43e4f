import type { TaskDelivery, TaskState } from './tasks.ts';
/** Agents of other systems, which are reached over A2A. */

/** The bus topic that notifies workers that something is due: the body is the id of a remote agent or of a thread with one. */
export const remoteTopic = 'remote-agents';

/** A record that no person has confirmed is removed after it, in milliseconds. */
export const confirmationMs = 7 * 24 * 3_600_000;

/** A card is read again after it, in milliseconds. */
export const cardAgeMs = 24 * 3_600_000;

/** Agents are told of failing deliveries to a remote agent when none has succeeded for so long, in milliseconds. */
export const remoteFailureMs = 60_000;

/** `waiting`: for its card, or for a person. Nothing is sent. */
export const remoteStates = ['waiting', 'ready'] as const;

/** How this service signs in at the other system, as an owner sets it. */
export const enteredCredentialKinds = ['none', 'bearer', 'client_credentials'] as const;

export type EnteredCredentialKind = (typeof enteredCredentialKinds)[number];

/** `invitation`: with a token that the other installation has issued. */
export const credentialKinds = [...enteredCredentialKinds, 'invitation'] as const;

export type CredentialKind = (typeof credentialKinds)[number];

/** An invitation expires after it, in milliseconds. */
export const remoteInvitationMs = 7 * 24 * 3_600_000;

/** The client of tokens that invitations issue. It has no secret, so no program can sign in as it. */
export const invitationClientId = 'invitation';

interface OAuthFlows {
  clientCredentials?: { tokenUrl: string } | undefined;
}

/** What is kept of the card of an agent (A2A 1.0, section 4.4.1, and A2A 0.3, section 5.5). */
export interface RemoteCard {
  name: string;
  description: string;
  version: string;
  provider?: { organization: string; url?: string | undefined } | undefined;
  supportedInterfaces?:
    | { url: string; protocolBinding: string; protocolVersion: string; tenant?: string | undefined }[]
    | undefined;
  /** Of A2A 0.3, as the next three. */
  protocolVersion?: string | undefined;
  url?: string | undefined;
  preferredTransport?: string | undefined;
  additionalInterfaces?: { url: string; transport: string }[] | undefined;
  capabilities: {
    streaming?: boolean | undefined;
    pushNotifications?: boolean | undefined;
    extensions?:
      | { uri: string; required?: boolean | undefined; params?: Record<string, unknown> | undefined }[]
      | undefined;
  };
  securitySchemes: Record<
    string,
    { oauth2SecurityScheme?: { flows?: OAuthFlows | undefined } | undefined; flows?: OAuthFlows | undefined }
  >;
  skills: { id?: string | undefined; name: string; description: string }[];
}

/** A message or an artifact of a remote task. */
export interface RemoteItem {
  /** Names it at the remote side. */
  key: string;
  isArtifact: boolean;
  /** The message of the same sender before it, at another installation; null: unknown. */
  after: string | null;
  content: string;
  content_type: 'text' | 'markdown';
  files: { filename: string; content_type: string | undefined; bytes: Uint8Array }[];
}

/** A task of a remote agent. */
export interface RemoteTask {
  id: string;
  context_id: string | null;
  state: TaskState;
  /** In the order in which they happened, as far as that is known: history, artifacts, and the message of the status. */
  items: RemoteItem[];
  /** What the remote agent has done with the message; null: its service does not say. */
  mailbox: { generation: number; delivery: TaskDelivery; marks: ConversationMarks } | null;
}

/** What the other agent of a conversation has done: the last message of each level, as its sender names it. */
export type ConversationMarks = { [Level in Exclude<TaskDelivery, 'stored'>]?: string | undefined };
