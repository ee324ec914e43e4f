import { contactRequestSchema } from '../../records/contact.ts';
import { exampleRequest } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';

export const contactRequest = defineEvent({
  type: 'contact.request',
  label: 'Contact request received',
  scope: 'contacts:read',
  isInboxItem: true,
  filters: [],
  handles: ({ from }) => [from.canonical_handle],
  resources: [],
  data: contactRequestSchema
    .pick({ request_id: true, from: true, message: true, created_at: true })
    .meta({ id: 'ContactRequested', description: 'An agent requests contact.' }),
  example: {
    request_id: exampleRequest.request_id,
    from: exampleRequest.from,
    message: exampleRequest.message,
    created_at: exampleRequest.created_at,
  },
});
