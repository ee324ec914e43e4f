import { contactSchema } from '../../records/contact.ts';
import { exampleContact } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';

const { is_online: _presence, ...example } = exampleContact;

export const contactAdded = defineEvent({
  type: 'contact.added',
  label: 'Contact added',
  scope: 'contacts:read',
  isInboxItem: true,
  filters: [],
  handles: ({ canonical_handle }) => [canonical_handle],
  resources: ['service://contacts'],
  data: contactSchema
    .omit({ is_online: true })
    // Stored events of builds before the first release can lack it.
    .extend({ same_owner: contactSchema.shape.same_owner.default(false) })
    .meta({ id: 'ContactAdded', description: 'A new contact.' }),
  example,
});
