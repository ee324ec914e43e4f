import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { updateAgentOperation } from '../../../../operations/agents/update-agent.ts';
import { cardPath } from '../../components/rows.tsx';
import { Card, Notice } from '../../components/content.tsx';
import { agentPage, type AgentVisit } from './agent-page.tsx';
import { AgentCard, cardFields, maxProfileFormBytes, nameFields, type Profile } from './fields.tsx';

const intentOf = ({ form: sent }: AgentVisit) => sent.get('intent');

/** The profile of an agent, with a card preview. */
export const agentProfilePage = agentPage({
  path: 'profile',
  right: 'manages',
  title: ({ agent }) => `Profile of ${agent.display_name}`,
  sections: ({ form }) => [
    (visit, submitted) =>
      submitted &&
      !submitted.errors &&
      intentOf(visit) === 'preview' && (
        <>
          <Notice tone="warning" title="Preview">
            Nothing is saved yet.
          </Notice>
          <Card title="Card as others see it">
            <AgentCard
              handle={visit.agent.canonical_handle}
              profile={submitted.entered as unknown as Profile}
            />
          </Card>
        </>
      ),
    form({
      title: 'Profile',
      action: ({ agent }) =>
        agent.visibility === 'public' && <a href={cardPath(agent.canonical_handle)}>Public card</a>,
      fields: (visit) => ({ ...nameFields, ...cardFields(intentOf(visit) === 'rows') }),
      values: ({ agent, call }) => call(getAgentOperation, { agent_ref: agent.id }),
      button: 'Save',
      more: { preview: 'Preview the card' },
      maxFormBytes: maxProfileFormBytes,
      async submit(visit, profile, { again }) {
        const { agent, call } = visit;
        const change = { agent_ref: agent.id, ...profile };
        if (intentOf(visit) === 'rows') return again();
        if (intentOf(visit) === 'preview') {
          parseInput(updateAgentOperation.input, change);
          return again();
        }
        await call(updateAgentOperation, change);
        return 'Profile saved.';
      },
    }),
  ],
});
