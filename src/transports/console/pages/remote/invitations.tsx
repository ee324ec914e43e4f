import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import {
  acceptInvitationForPerson,
  endInvitationForPerson,
  inviteForPerson,
  listInvitationsOfPerson,
} from '../../../../services/remote/of-person.ts';
import { Handle, Time, toAgentOptions } from '../../components/rows.tsx';
import { secretPage } from '../../components/secrets.tsx';
import { selectField, urlField } from '../../define/fields.tsx';
import { definePage } from '../../define/page.tsx';
import { handleNameField, remotePath } from './fields.tsx';

/** The path of the page on which agents are invited, and invitations redeemed. */
const invitationsPath = `${remotePath}/invitations`;

const agentField = (label: string, agents: readonly AgentOfPerson[]) =>
  selectField(label, toAgentOptions(agents));

/** Connects an agent of the person with one of another installation: by an invitation of one side, which the other side redeems. */
export const remoteInvitationsPage = definePage({
  path: invitationsPath,
  load: async ({ read, person }) => ({ agents: await read(listAgentsOfPerson, person.account_id) }),
  title: 'Invitations',
  back: { href: remotePath, text: 'Agents of other systems' },
  lead: 'An invitation connects one of your agents with one agent of another installation of this service.',
  sections: ({ form, list }) => [
    form({
      title: 'Invite',
      text: 'You get an address. Send it to the owner of the other agent over a way that you trust. It works once, for 7 days.',
      fields: ({ agents }) => ({ agent_id: agentField('Your agent', agents) }),
      values: ({ query }) => ({ agent_id: query.get('agent')?.slice(0, 80) }),
      errors: { AGENT_NOT_FOUND: 'agent_id', FORBIDDEN: 'agent_id' },
      button: 'Create invitation',
      async submit({ write, person: { account_id } }, { agent_id }) {
        const { address } = await write(inviteForPerson, { account_id, agent_id });
        return secretPage({
          heading: <h1>Invitation</h1>,
          secrets: [{ label: 'Address of the invitation', value: address }],
          text: <p>The other owner redeems it. Then the other agent waits here for your confirmation.</p>,
          next: invitationsPath,
        });
      },
    }),
    list({
      title: 'Open invitations',
      empty: 'No invitation waits for its redeemer.',
      read: ({ read, person }) => read(listInvitationsOfPerson, person.account_id),
      row: ({ id, canonical_handle, expires_at }) => ({
        key: id,
        title: <Handle of={canonical_handle} />,
        text: ['Expires ', <Time at={expires_at} />],
        buttons: [
          { label: 'End', action: 'end', hidden: { id }, about: `the invitation of ${canonical_handle}` },
        ],
      }),
    }),
    form({
      name: 'redeem',
      title: 'Redeem an invitation',
      text: 'This service asks the other one for its agent. You see what its card says, and confirm it, before anything is sent.',
      fields: ({ agents }) => ({
        invitation: urlField('Address of the invitation', 'As you got it from the other owner.'),
        agent_id: agentField('Your agent that talks with it', agents),
        handle: handleNameField,
      }),
      errors: { DUPLICATE_HANDLE: 'handle', AGENT_NOT_FOUND: 'agent_id', FORBIDDEN: 'agent_id' },
      button: 'Redeem',
      async submit({ write, parts, person: { account_id } }, { invitation, agent_id, handle }) {
        await parts.limits.consume('contact_request', account_id);
        const input = { invitation, ...(handle !== '' && { handle }) };
        const added = await write(acceptInvitationForPerson, { account_id, agent_id }, input);
        return {
          to: `${remotePath}/${added.agent_id}`,
          flash: 'Added. The other service is being asked for its agent.',
        };
      },
    }),
  ],
  changes: {
    async end({ write, person, form }) {
      await write(endInvitationForPerson, person.account_id, form.get('id') ?? '');
      return 'Invitation ended.';
    },
  },
});
