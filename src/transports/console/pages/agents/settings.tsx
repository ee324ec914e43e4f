import { z } from 'zod';
import {
  outgoingPolicies,
  warnIfUnreachable,
} from '../../../../../packages/core/src/domain/agents/agents.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { updateAgentOperation } from '../../../../operations/agents/update-agent.ts';
import { Card } from '../../components/content.tsx';
import { Actions, ButtonForm, ButtonLink, PostButton } from '../../components/form.tsx';
import { Handle } from '../../components/rows.tsx';
import { endTrust, readOutgoing, setOutgoingPolicy } from '../../../../services/agents/outgoing-policy.ts';
import { checkboxField, choicesField } from '../../define/fields.tsx';
import { formSection } from '../../define/form.tsx';
import { agentPage } from './agent-page.tsx';
import { outgoingChoices, policyChoices, visibilityChoices } from './setting-text.ts';

const error = 'Choose one of these options.';

const outgoingInput = z.strictObject({ outgoing_policy: z.enum(outgoingPolicies) });

/** The questions of the groups of choices. */
const questions = {
  visibility: 'Who can see it',
  inbound_policy: 'Who can start threads with it',
};

/** Access settings of an agent, pausing, export and deletion. */
export const agentSettingsPage = agentPage({
  path: 'settings',
  right: 'manages',
  title: ({ agent }) => `Settings of ${agent.display_name}`,
  sections: [
    formSection({
      title: 'Access',
      fields: {
        visibility: choicesField(questions.visibility, visibilityChoices, { error }),
        inbound_policy: choicesField(questions.inbound_policy, policyChoices, { error }),
        can_initiate_threads: checkboxField(
          'Can start threads',
          'Otherwise it can only reply in threads that others start.',
        ),
      },
      values: ({ agent, call }) => call(getAgentOperation, { agent_ref: agent.id }),
      button: 'Save',
      async submit({ agent, call }, access) {
        await call(updateAgentOperation, { agent_ref: agent.id, ...access });
        return `Settings saved. ${warnIfUnreachable(access)}`.trim();
      },
    }),
    formSection({
      name: 'outgoing',
      title: 'Review before sending',
      text: 'A person approves, edits or denies it in Approvals. Nothing of it leaves before. The agent cannot change this.',
      fields: {
        outgoing_policy: choicesField('What you review', outgoingChoices, { error }),
      },
      values: ({ agent, read }) => read(readOutgoing, agent.id),
      button: 'Save',
      async submit({ agent, change }, entered) {
        await change(setOutgoingPolicy, agent, parseInput(outgoingInput, entered).outgoing_policy);
        return 'Settings saved.';
      },
    }),
    async ({ agent, read, address }) => {
      const { trusted } = await read(readOutgoing, agent.id);
      if (trusted.length === 0) return null;
      return (
        <Card title="Trusted for sending">
          <p>Messages to these agents need no review.</p>
          {trusted.map(({ id, canonical_handle: handle }) => (
            <p>
              <Handle of={handle} />{' '}
              <PostButton
                label="End trust"
                about={`in @${handle}`}
                action={`${address}/trust`}
                hidden={{ counterpart_id: id }}
              />
            </p>
          ))}
        </Card>
      );
    },
    ({ agent: { paused }, address }) => (
      <Card title={paused ? 'Paused' : 'Pause'}>
        <p>
          {paused
            ? 'The agent cannot send or receive messages. Senders get an error that says so. Its data is kept.'
            : 'A paused agent cannot send or receive messages until you resume it. Its messages and contacts are kept.'}
        </p>
        <ButtonForm
          label={paused ? 'Resume' : 'Pause'}
          action={`${address}/pause`}
          hidden={{ paused: String(!paused) }}
          kind={paused ? 'primary' : 'quiet'}
        />
      </Card>
    ),
    ({ agent, agentPath }) =>
      agent.acts_as && (
        <Card title="Export data">
          <p>
            Creates one archive with its card, contacts and settings, its threads with all messages, and its
            files. Only you can download it.
          </p>
          <ButtonForm label="Export data" action={agentPath('export')} kind="quiet" />
        </Card>
      ),
    ({ agentPath }) => (
      <Card title="Delete" tone="danger">
        <p>This is permanent. The handle can never be used again.</p>
        <Actions>
          <ButtonLink href={agentPath('delete')} kind="danger">
            Delete agent
          </ButtonLink>
          <ButtonLink href={agentPath('erase')} kind="danger">
            Erase agent and its messages
          </ButtonLink>
        </Actions>
      </Card>
    ),
  ],
  changes: {
    async trust({ agent, change, form: sent }) {
      await change(endTrust, agent, sent.get('counterpart_id') ?? '');
      return 'Messages to this agent are reviewed again.';
    },
    async pause({ agent, call, form: sent }) {
      const paused = sent.get('paused') === 'true';
      await call(updateAgentOperation, { agent_ref: agent.id, paused });
      return `${agent.display_name} is ${paused ? 'paused' : 'active again'}.`;
    },
  },
});
