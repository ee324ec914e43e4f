import type { EventType } from '../../../../domain/feed/events.ts';
import type { DeliveryState, DisabledReason } from '../../../../domain/webhooks.ts';

/** What happened, in words for people. */
export const eventText: Record<EventType, string> = {
  'message.created': 'A message is sent',
  'thread.created': 'A thread begins',
  'thread.updated': 'A thread changes',
  'thread.member_added': 'Somebody joins a thread',
  'thread.member_removed': 'Somebody leaves a thread',
  'message.delivered': 'A message of its own arrives',
  'message.read': 'Somebody has read',
  'attachment.scanned': 'A file is checked',
  'contact.request': 'Somebody asks for contact',
  'contact.added': 'There is a new contact',
  'contact.updated': 'A contact changes',
  'contact.removed': 'A contact ends',
  'agent.updated': 'An agent changes',
};

export const disabledReasonText: Record<DisabledReason, string> = {
  by_request: 'It was disabled here, or by the agent.',
  gone: 'The receiver answered 410: it is gone for good.',
  failing: 'An event was tried to the end of the schedule, and nothing else got through meanwhile.',
};

type Tone = 'plain' | 'good' | 'warning' | 'danger';

export const deliveryStateLabels: Record<DeliveryState, { tone: Tone; text: string }> = {
  pending: { tone: 'warning', text: 'To be posted' },
  delivered: { tone: 'good', text: 'Delivered' },
  failed: { tone: 'danger', text: 'Failed' },
  skipped: { tone: 'plain', text: 'Not needed' },
};
