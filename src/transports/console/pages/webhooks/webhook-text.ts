import type { EventType } from '../../../../../packages/core/src/domain/feed/events.ts';
import type { DeliveryState, DisabledReason } from '../../../../../packages/core/src/domain/webhooks.ts';

/** Event types in words. */
export const eventText: Record<EventType, string> = {
  'message.created': 'Message sent',
  'thread.created': 'Thread created',
  'thread.updated': 'Thread changed',
  'thread.member_added': 'Member added to a thread',
  'thread.member_removed': 'Member removed from a thread',
  'message.delivered': 'Own message delivered',
  'message.read': 'Message read',
  'message.handled': 'Message handled',
  'attachment.scanned': 'File scanned',
  'contact.request': 'Contact request received',
  'contact.added': 'Contact added',
  'contact.updated': 'Contact changed',
  'contact.removed': 'Contact removed',
  'approval.resolved': 'Approval decided',
  'inbox.expired': 'Inbox items expired',
  'agent.updated': 'Agent changed',
};

/** Why a webhook is disabled. */
export const disabledReasonText: Record<DisabledReason, string> = {
  by_request: 'Disabled by you or the agent.',
  gone: 'Disabled because the server answered 410 Gone.',
  failing:
    'Disabled because all attempts to deliver an event failed and no other event was delivered in that time.',
};

type Tone = 'plain' | 'good' | 'warning' | 'danger';

/** Labels of delivery states. */
export const deliveryStateLabels: Record<DeliveryState, { tone: Tone; text: string }> = {
  pending: { tone: 'warning', text: 'Pending' },
  delivered: { tone: 'good', text: 'Delivered' },
  failed: { tone: 'danger', text: 'Failed' },
  skipped: { tone: 'plain', text: 'Skipped' },
};
