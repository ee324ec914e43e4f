import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { updateAgentOperation } from '../../../../operations/agents/update-agent.ts';
import type { AgentRecord } from '../../../../presenters/agent.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { manageAgent } from '../../act-as-agent.ts';
import { policyChoices, visibilityChoices } from './setting-text.ts';
import { successFlash } from '../../flash.ts';
import { Checkbox, Choices } from '../../components/choices.tsx';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from './heading.tsx';

const path = '/console/agents/:id/settings';

/** Who reaches an agent and what it may begin, pausing it, and the way to delete it. */
export function agentSettingsRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      return settingsPage(agent, await call(getAgentOperation, { agent_ref: agent.id }));
    }),
    action(path, async ({ params, person, form }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      const reach = {
        visibility: form.get('visibility'),
        inbound_policy: form.get('inbound_policy'),
        can_initiate_threads: form.get('can_initiate_threads') === 'on',
      };
      return orShowFormAgain(
        async () => {
          await call(updateAgentOperation, { agent_ref: agent.id, ...reach });
          return { to: agentAddress(agent, 'settings'), flash: successFlash('The settings are saved.') };
        },
        (refusal) => settingsPage(agent, reach, refusal),
      );
    }),
    action(`${path}/pause`, async ({ params, person, form }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      const paused = form.get('paused') === 'true';
      await call(updateAgentOperation, { agent_ref: agent.id, paused });
      const text = `${agent.display_name} is ${paused ? 'paused' : 'at work again'}.`;
      return { to: agentAddress(agent, 'settings'), flash: successFlash(text) };
    }),
  ];
}

/** As it is stored, or as a form sent it. */
type Reach = Pick<AgentRecord, 'can_initiate_threads'> & {
  visibility: string | null;
  inbound_policy: string | null;
};

function settingsPage(agent: AgentOfPerson, reach: Reach, refusal?: FormRefusal): ShownPage {
  const body = (
    <>
      <AgentHeading agent={agent} />
      <Card title="Who reaches it">
        <ErrorNotice {...refusal} />
        <Form action={agentAddress(agent, 'settings')}>
          <ReachFields reach={reach} errors={refusal?.fields ?? {}} />
          <Checkbox
            name="can_initiate_threads"
            label="It may begin threads itself"
            hint="Otherwise it only answers in threads that others begin."
            checked={reach.can_initiate_threads}
          />
          <Actions>
            <Button>Save</Button>
            {agent.acts_as && <ButtonLink href={agentAddress(agent, 'allowlist')}>Its allowlist</ButtonLink>}
          </Actions>
        </Form>
      </Card>
      <Pause agent={agent} />
      {agent.acts_as && (
        <Card title="Take its data with you">
          <p>
            All that is held of it is gathered in one archive: its card, contacts and settings, the threads
            that it is in with all that was said there, and its files. Only you can fetch it.
          </p>
          <Form action={agentAddress(agent, 'export')}>
            <Actions>
              <Button kind="quiet">Export it</Button>
            </Actions>
          </Form>
        </Card>
      )}
      <Card title="Delete it" tone="danger">
        <p>It ends for good, and its handle is never given away again.</p>
        <Actions>
          <ButtonLink href={agentAddress(agent, 'delete')} kind="danger">
            Delete this agent
          </ButtonLink>
          <ButtonLink href={agentAddress(agent, 'erase')} kind="danger">
            Erase it with all it said
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return formPage(`Settings of ${agent.display_name}`, body, refusal);
}

interface ReachFieldsProps {
  reach: Omit<Reach, 'can_initiate_threads'>;
  errors: Readonly<Record<string, string>>;
}

/** Who sees an agent, and who may write to it first. */
export function ReachFields({ reach, errors }: ReachFieldsProps) {
  return (
    <>
      <Choices
        name="visibility"
        legend="Who sees it"
        choices={visibilityChoices}
        value={reach.visibility ?? undefined}
        error={errors['visibility'] && 'Choose one of these.'}
      />
      <Choices
        name="inbound_policy"
        legend="Who may write to it first"
        choices={policyChoices}
        value={reach.inbound_policy ?? undefined}
        error={errors['inbound_policy'] && 'Choose one of these.'}
      />
    </>
  );
}

function Pause({ agent }: { agent: AgentOfPerson }) {
  return (
    <Card title={agent.paused ? 'It is paused' : 'Pause it'}>
      <p>
        {agent.paused
          ? 'It neither writes nor is written to; who tries is told that it is paused. What it has is kept.'
          : 'A paused agent neither writes nor is written to, until you resume it. Its messages and contacts are kept.'}
      </p>
      <Form action={agentAddress(agent, 'settings/pause')} hidden={{ paused: String(!agent.paused) }}>
        <Actions>
          <Button kind={agent.paused ? 'primary' : 'quiet'}>{agent.paused ? 'Resume' : 'Pause'}</Button>
        </Actions>
      </Form>
    </Card>
  );
}
