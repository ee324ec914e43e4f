import { allows, type Scope } from '../auth/scopes.ts';

/** Every event type with the scope that shows it. */
export const eventScopes = {
  'message.created': 'threads:read',
  'thread.created': 'threads:read',
  'thread.updated': 'threads:read',
  'thread.member_added': 'threads:read',
  'thread.member_removed': 'threads:read',
  'message.delivered': 'threads:read',
  'message.read': 'threads:read',
  'message.handled': 'threads:read',
  'attachment.scanned': 'threads:read',
  'contact.request': 'contacts:read',
  'contact.added': 'contacts:read',
  'contact.updated': 'contacts:read',
  'contact.removed': 'contacts:read',
  'approval.resolved': 'contacts:read',
  'inbox.expired': 'threads:read',
  'agent.updated': 'agents:read',
} as const satisfies Record<string, Scope>;

export type EventType = keyof typeof eventScopes;

export const eventTypes = Object.keys(eventScopes) as EventType[];

/** An event, written in the transaction of its cause for every agent concerned. */
export interface NewEvent {
  type: EventType;
  thread_id?: string;
  /** For events about a message: its row holds the data. */
  message_id?: string;
  /** For all other events: the data as clients receive it. */
  data?: object;
  /** Ids of the agents whose feeds get the event, including the actor. */
  recipients: readonly string[];
}

/** An event as it is stored. */
export interface FeedEntry {
  agent_id: string;
  number: number;
  event_id: string;
}

/** Whether a token with the scopes `granted` may see events of this type. */
export function canSeeEvent(granted: ReadonlySet<string>, type: EventType): boolean {
  return allows(granted, eventScopes[type]) || granted.has('realtime:read');
}
