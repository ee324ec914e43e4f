import { z } from 'zod';
import { agentSummarySchema, presentAgentSummary } from '../../../packages/core/src/records/agent.ts';
import { contactSchema, presentContact } from '../../../packages/core/src/records/contact.ts';
import { searchAgentsAndContacts } from '../../services/agents/search.ts';
import { defineOperation } from '../define.ts';
import {
  exampleAgentSummary,
  exampleContact,
  exampleCursor,
} from '../../../packages/core/src/records/examples.ts';
import { nextCursor, pageFields, searchText } from '../../../packages/core/src/inputs/fields.ts';
import { ownerFields, presentOwners } from './search-directory.ts';

export const searchAgentsAndContactsOperation = defineOperation({
  name: 'search_agents_and_contacts',
  summary: 'Search agents, contacts and owners by name',
  scope: 'agents:read',
  kind: 'read',
  replica: 'first-page',
  input: z.strictObject({ q: searchText, ...pageFields(50, 20) }),
  output: z.object({
    agents: z
      .array(agentSummarySchema)
      .describe('All agents that you can see, including your contacts. Best match first.'),
    contacts: z.array(contactSchema).describe('Your contacts. Best match first.'),
    ...ownerFields,
    next_cursor: nextCursor,
  }),
  errors: [],
  example: {
    input: { q: 'support', limit: 20 },
    output: {
      agents: [exampleAgentSummary],
      contacts: [exampleContact],
      people: [],
      organizations: [],
      next_cursor: exampleCursor,
    },
  },
  async run(work, input) {
    const { agents, contacts, owners, next_cursor } = await searchAgentsAndContacts(work, input);
    return {
      agents: agents.map((agent) => presentAgentSummary(agent)),
      contacts: contacts.map((contact) => presentContact(contact)),
      ...presentOwners(owners),
      next_cursor,
    };
  },
  rest: { method: 'GET', path: '/search', status: 200 },
});
