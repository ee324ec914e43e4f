import { z } from 'zod';
import {
  outgoingPolicies,
  warnIfUnreachable,
} from '../../../../../packages/core/src/domain/agents/agents.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { updateAgentOperation } from '../../../../operations/agents/update-agent.ts';
import { Card } from '../../components/content.tsx';
import { Actions, ButtonLink, PostButton } from '../../components/form.tsx';
import { Handle } from '../../components/rows.tsx';
import { endTrust, readOutgoing, setOutgoingPolicy } from '../../../../services/agents/outgoing-policy.ts';
import { checkboxField, choicesField } from '../../define/fields.tsx';
import { agentPage, type AgentVisit } from './agent-page.tsx';
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
  sections: ({ form, button }) => [
    form({
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
    form({
      name: 'outgoing',
      title: 'Review before sending',
      text: 'A person approves, edits or denies it in Approvals. Nothing is sent before. The agent cannot change this.',
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
    showTrusted,
    button({
      name: 'pause',
      title: ({ agent: { paused } }) => (paused ? 'Paused' : 'Pause'),
      text: ({ agent: { paused } }) =>
        paused
          ? 'The agent cannot send or receive messages. Senders get an error that says so. Its data is kept.'
          : 'A paused agent cannot send or receive messages until you resume it. Its messages and contacts are kept.',
      hidden: ({ agent: { paused } }) => ({ paused: String(!paused) }),
      button: ({ agent: { paused } }) => (paused ? 'Resume' : 'Pause'),
      kind: ({ agent: { paused } }) => (paused ? 'primary' : 'quiet'),
      async submit({ agent, call, form: sent }) {
        const paused = sent.get('paused') === 'true';
        await call(updateAgentOperation, { agent_ref: agent.id, paused });
        return `${agent.display_name} is ${paused ? 'paused' : 'active again'}.`;
      },
    }),
    showEnds,
  ],
  changes: {
    async trust({ agent, change, form: sent }) {
      await change(endTrust, agent, sent.get('counterpart_id') ?? '');
      return 'Messages to this agent are reviewed again.';
    },
  },
});

async function showTrusted({ agent, read, address }: AgentVisit) {
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
}

/** Cards for the export and the end of the agent. */
function showEnds({ agent, agentPath }: AgentVisit) {
  return (
    <>
      {agent.acts_as && (
        <Card title="Export data">
          <p>
            Creates one archive with its card, contacts and settings, its threads with all messages, and its
            files. Only you can download it.
          </p>
          <PostButton label="Export data" action={agentPath('export')} />
        </Card>
      )}
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
    </>
  );
}
