import { contactSchema } from '../../records/contact.ts';
import { exampleAgents } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';

export const contactUpdated = defineEvent({
  type: 'contact.updated',
  label: 'Contact changed',
  scope: 'contacts:read',
  isInboxItem: true,
  filters: [],
  handles: ({ canonical_handle }) => [canonical_handle],
  resources: ['service://contacts'],
  data: contactSchema
    .pick({ agent_id: true, canonical_handle: true, display_name: true, favorite: true })
    .partial({ display_name: true, favorite: true })
    .meta({
      id: 'ContactUpdated',
      description: 'The changed fields of a contact; absent fields are unchanged.',
    }),
  example: {
    agent_id: exampleAgents.support.id,
    canonical_handle: exampleAgents.support.canonical_handle,
    display_name: 'Support desk',
  },
});
