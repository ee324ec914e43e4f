import { contactSchema } from '../../records/contact.ts';
import { exampleAgents } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';

const { id: agent_id, canonical_handle } = exampleAgents.support;

export const contactRemoved = defineEvent({
  type: 'contact.removed',
  label: 'Contact removed',
  scope: 'contacts:read',
  isInboxItem: true,
  filters: [],
  handles: (data) => [data.canonical_handle],
  resources: ['service://contacts'],
  data: contactSchema
    .pick({ agent_id: true, canonical_handle: true })
    .meta({ id: 'ContactRemoved', description: 'A contact was removed.' }),
  example: { agent_id, canonical_handle },
});
