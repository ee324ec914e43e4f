import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { presentRemoteAgent } from '../../../../../packages/core/src/records/remote-agent.ts';
import { listRemoteAgentsOfPerson, addRemoteAgentForPerson } from '../../../../services/remote/of-person.ts';
import { ButtonLink } from '../../components/form.tsx';
import { Handle } from '../../components/rows.tsx';
import { toPage } from '../../define/list.tsx';
import { definePage } from '../../define/page.tsx';
import {
  RemoteState,
  remotePath,
  credentialAliases,
  credentialFields,
  handleNameField,
  toCredential,
} from './fields.tsx';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { addRemoteAgentOperation } from '../../../../operations/remote/add-remote-agent.ts';
import { listOrganizations } from '../../../../services/people/memberships.ts';
import { selectField, urlField } from '../../define/fields.tsx';

/** Adds an agent of another system. */
export const remoteAgentNewPage = definePage({
  path: `${remotePath}/new`,
  async load({ read, person }) {
    const organizations = await read(listOrganizations, person);
    const administered = organizations.filter(({ role }) => role === 'admin');
    const { username } = person;
    // Empty for the person, or the slug of an organization.
    const owners = [
      { value: '', text: `You (@${username}.…)` },
      ...administered.map(({ slug }) => ({ value: slug, text: `${slug} (@${slug}.…)` })),
    ];
    return { owners };
  },
  title: 'Add an agent of another system',
  back: { href: remotePath, text: 'Agents of other systems' },
  sections: ({ form }) => [
    form({
      text: 'This service reads the card. You see what it says, and confirm it, before anything is sent.',
      fields: ({ owners }) => ({
        card_url: urlField(
          'Address of the A2A card',
          'Such as https://agent.example/.well-known/agent-card.json',
        ),
        handle: handleNameField,
        organization: { ...selectField('Owner', owners), ...(owners.length === 1 && { show: () => null }) },
        ...credentialFields,
      }),
      values: () => ({ kind: 'none' }),
      aliases: credentialAliases,
      errors: { DUPLICATE_HANDLE: 'handle', NOT_FOUND: 'organization', FORBIDDEN: 'organization' },
      button: 'Add agent',
      cancel: () => remotePath,
      async submit({ person, parts, write }, { card_url, handle, organization, ...credential }) {
        const { card_url: url = '', ...input } = parseInput(addRemoteAgentOperation.input, {
          card_url,
          ...(handle !== '' && { handle }),
          ...(organization !== '' && { organization }),
          credential: toCredential(credential),
        });
        await parts.limits.consume('contact_request', person.account_id);
        const wanted = { ...input, card_url: url };
        const { agent_id } = await write(addRemoteAgentForPerson, person.account_id, wanted);
        return { to: `${remotePath}/${agent_id}`, flash: 'Added. Its card is being read.' };
      },
    }),
  ],
});

const pageSize = 50;

/** The agents of other systems that a person owns or administers. */
export const remoteAgentsPage = definePage({
  path: remotePath,
  title: 'Agents of other systems',
  back: { href: '/console/agents', text: 'Agents' },
  lead: 'Agents of other services, which your agents reach over A2A.',
  action: () => (
    <span class="button-pair">
      <ButtonLink href={`${remotePath}/invitations`}>Invitations</ButtonLink>
      <ButtonLink href={`${remotePath}/new`} kind="primary">
        Add an agent
      </ButtonLink>
    </span>
  ),
  sections: ({ list }) => [
    list({
      label: 'Agents of other systems',
      noun: 'agents',
      empty: {
        title: 'No agents of other systems',
        text: 'Add one by the address of its A2A card. Then your agents can write to it by its handle here.',
      },
      async read({ read, query, person }) {
        const after = query.get('after') ?? '';
        const where = { after: isHandle(after) ? after : '', limit: pageSize + 1 };
        const found = await read(listRemoteAgentsOfPerson, person.account_id, where);
        return toPage(found.map(presentRemoteAgent), pageSize, (last) => ({ after: last.canonical_handle }));
      },
      row: (agent) => ({
        key: agent.id,
        title: <a href={`${remotePath}/${agent.id}`}>{agent.display_name}</a>,
        lines: [[<Handle of={agent.canonical_handle} />], [<span class="code">{agent.card_url}</span>]],
        side: <RemoteState {...agent} />,
      }),
    }),
  ],
});
