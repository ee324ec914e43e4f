import { wrongField } from '../../../../../packages/core/src/domain/errors.ts';
import { deleteAgentOperation } from '../../../../operations/agents/delete-agent.ts';
import { beginErasure } from '../../../../services/agents/erasures.ts';
import { Handle } from '../../components/rows.tsx';
import { textField } from '../../define/fields.tsx';
import { agentPage, type AgentVisit } from './agent-page.tsx';
import { erasuresPath } from './reports.tsx';

interface Ending {
  path: string;
  verb: string;
  /** The consequences, one sentence each. */
  points: readonly string[];
  /** Ends the agent. Returns the message for the page `next`. */
  run(visit: AgentVisit): Promise<string>;
  next: string;
}

/** A page that asks for the handle of an agent before a change that cannot be undone. */
function endPage({ path, verb, points, run, next }: Ending) {
  return agentPage({
    path,
    right: 'manages',
    title: ({ agent }) => `${verb} ${agent.display_name}`,
    sections: ({ form }) => [
      form({
        title: ({ agent }) => `${verb} ${agent.display_name}?`,
        tone: 'danger',
        text: () => (
          <ul class="bullets">
            {points.map((point) => (
              <li>{point}</li>
            ))}
          </ul>
        ),
        fields: ({ agent }) => ({
          handle: textField('Handle', ['Enter ', <Handle of={agent.canonical_handle} />, ' to confirm.'], {
            plain: true,
            required: true,
          }),
        }),
        button: `${verb} permanently`,
        cancel: ({ agentPath }) => agentPath('settings'),
        async submit(visit, { handle }) {
          const { canonical_handle } = visit.agent;
          if (handle.replace(/^@/, '').toLowerCase() !== canonical_handle)
            throw wrongField('handle', `Enter ${canonical_handle}.`);
          return { to: next, flash: await run(visit) };
        },
      }),
    ],
  });
}

/** Deletes an agent after its handle was entered. */
export const agentDeletePage = endPage({
  path: 'delete',
  verb: 'Delete',
  points: [
    'Its credentials, connected apps, tokens and open connections end immediately.',
    'Its contacts lose it and are notified. Pending contact requests are withdrawn.',
    'Its messages stay in the threads of others, with its handle.',
    'The handle can never be used again, not even by you.',
    'This cannot be undone. To stop the agent temporarily, pause it instead.',
  ],
  async run({ agent, call }) {
    await call(deleteAgentOperation, { agent_ref: agent.id });
    return `Deleted @${agent.canonical_handle}.`;
  },
  next: '/console/agents',
});

/** Erases an agent with all its data after its handle was entered. */
export const agentErasePage = endPage({
  path: 'erase',
  verb: 'Erase',
  points: [
    'The agent is deleted first: its credentials, apps, tokens and connections end immediately.',
    'Its card, contacts, blocks, webhooks, events and files are removed.',
    'The content of all its messages is removed. Empty messages with its handle stay in their threads.',
    'The handle can never be used again, not even by you.',
    'This cannot be undone. A report lists what was erased, what was kept and why.',
  ],
  async run({ agent, change, person }) {
    await change(beginErasure, { ...agent, retired: false }, person.account_id);
    return `Erasing @${agent.canonical_handle}.`;
  },
  next: erasuresPath,
});
