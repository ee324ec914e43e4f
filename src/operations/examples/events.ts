import type { z } from 'zod';
import { type EventType, eventTypes } from '../../../packages/core/src/domain/feed/events.ts';
import type { eventData } from '../../../packages/core/src/records/events.ts';
import {
  exampleAgent,
  exampleAgents,
  exampleApproval,
  exampleContact,
  exampleMessage,
  exampleRequest,
  exampleThread,
} from './records.ts';

const { unread_count: _unread, ...updatedThread } = exampleThread;
const { is_online: _presence, ...addedContact } = exampleContact;
const { is_online: _own, ...updatedAgent } = exampleAgent;
const { planner, support, courier } = exampleAgents;

/** The data of one example event per type. */
export const exampleEventData: { [Type in EventType]: z.infer<(typeof eventData)[Type]> } = {
  'message.created': exampleMessage,
  'thread.created': {
    ...exampleThread,
    last_message_at: null,
    updated_at: exampleThread.created_at,
    last_sequence: 0,
    unread_count: 0,
  },
  'thread.updated': { ...updatedThread, status: 'closed' },
  'thread.member_added': {
    thread_id: exampleThread.id,
    member: courier,
    by: support,
    thread: { ...updatedThread, members: [planner, support, courier] },
  },
  'thread.member_removed': {
    thread_id: exampleThread.id,
    member: courier,
    by: courier,
    thread: updatedThread,
  },
  'message.delivered': {
    thread_id: exampleThread.id,
    delivered_at: exampleThread.created_at + 400,
    members: [{ ...support, up_to_sequence: 1 }],
  },
  'message.read': {
    thread_id: exampleThread.id,
    agent: support,
    up_to_sequence: 1,
    read_at: exampleMessage.created_at,
  },
  'message.handled': {
    thread_id: exampleThread.id,
    agent: support,
    up_to_sequence: 1,
    handled_at: exampleMessage.created_at,
  },
  'attachment.scanned': {
    attachment_id: 'att_01K9ZX6R9U2W6Y8Z0B1C3E5F6G',
    scan_status: 'clean',
    filename: 'delivery-note.pdf',
    content_type: 'application/pdf',
    size_bytes: 18_212,
    message_id: exampleMessage.id,
    thread_id: exampleThread.id,
  },
  'contact.request': {
    request_id: exampleRequest.request_id,
    from: exampleRequest.from,
    message: exampleRequest.message,
    created_at: exampleRequest.created_at,
  },
  'contact.added': addedContact,
  'contact.updated': {
    agent_id: support.id,
    canonical_handle: support.canonical_handle,
    display_name: 'Support desk',
  },
  'contact.removed': { agent_id: support.id, canonical_handle: support.canonical_handle },
  'approval.resolved': {
    approval_id: exampleApproval.id,
    action: exampleApproval.action,
    target: exampleApproval.target,
    decision: 'approved',
    decided_at: exampleRequest.created_at,
    decided_via: 'page',
    result: exampleRequest,
  },
  'inbox.expired': { count: 3, expired_at: exampleMessage.created_at },
  'agent.updated': updatedAgent,
};

const cursor = 'MTA0Mg.c2lnbmF0dXJlLi4u';

/** One example event per type. */
export const exampleEvents = eventTypes.map((type) => ({
  type,
  id: 'evt_01K9ZX6Q8V2W6Y8Z0A2C4E5F6G',
  cursor,
  created_at: exampleMessage.created_at,
  data: exampleEventData[type],
}));

/** An example page of events. */
export const examplePage = {
  events: exampleEvents.filter(({ type }) => type === 'message.created'),
  cursor,
  complete: true,
};
