import { warnIfUnreachable } from '../../../../../packages/core/src/domain/agents/agents.ts';
import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { updateAgentOperation } from '../../../../operations/agents/update-agent.ts';
import type { AgentRecord } from '../../../../../packages/core/src/records/agent.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { manageAgent } from '../../act-as-agent.ts';
import { policyChoices, visibilityChoices } from './setting-text.ts';
import { successFlash } from '../../flash.ts';
import { Checkbox, Choices } from '../../components/choices.tsx';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from './heading.tsx';

const path = '/console/agents/:id/settings';

/** Access settings of an agent, pausing, export and deletion. */
export function agentSettingsRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      return settingsPage(agent, await call(getAgentOperation, { agent_ref: agent.id }));
    }),
    action(path, async ({ params, person, form }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      const access = {
        visibility: form.get('visibility'),
        inbound_policy: form.get('inbound_policy'),
        can_initiate_threads: form.get('can_initiate_threads') === 'on',
      };
      return orShowFormAgain(
        async () => {
          await call(updateAgentOperation, { agent_ref: agent.id, ...access });
          return {
            to: agentAddress(agent, 'settings'),
            flash: successFlash(`Settings saved. ${warnIfUnreachable(access)}`.trim()),
          };
        },
        (formErrors) => settingsPage(agent, access, formErrors),
      );
    }),
    action(`${path}/pause`, async ({ params, person, form }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      const paused = form.get('paused') === 'true';
      await call(updateAgentOperation, { agent_ref: agent.id, paused });
      const text = `${agent.display_name} is ${paused ? 'paused' : 'active again'}.`;
      return { to: agentAddress(agent, 'settings'), flash: successFlash(text) };
    }),
  ];
}

/** Stored or entered access settings. */
type AccessSettings = Pick<AgentRecord, 'can_initiate_threads'> & {
  visibility: string | null;
  inbound_policy: string | null;
};

function settingsPage(agent: AgentOfPerson, access: AccessSettings, formErrors?: FormErrors): ShownPage {
  const body = (
    <>
      <AgentHeading agent={agent} />
      <Card title="Access">
        <ErrorNotice {...formErrors} />
        <Form action={agentAddress(agent, 'settings')}>
          <AccessFields access={access} errors={formErrors?.fields ?? {}} />
          <Checkbox
            name="can_initiate_threads"
            label="Can start threads"
            hint="Otherwise it can only reply in threads that others start."
            checked={access.can_initiate_threads}
          />
          <Actions>
            <Button>Save</Button>
            {agent.acts_as && <ButtonLink href={agentAddress(agent, 'allowlist')}>Allowlist</ButtonLink>}
          </Actions>
        </Form>
      </Card>
      <Pause agent={agent} />
      {agent.acts_as && (
        <Card title="Export data">
          <p>
            Creates one archive with its card, contacts and settings, its threads with all messages, and its
            files. Only you can download it.
          </p>
          <Form action={agentAddress(agent, 'export')}>
            <Actions>
              <Button kind="quiet">Export data</Button>
            </Actions>
          </Form>
        </Card>
      )}
      <Card title="Delete" tone="danger">
        <p>This is permanent. The handle can never be used again.</p>
        <Actions>
          <ButtonLink href={agentAddress(agent, 'delete')} kind="danger">
            Delete agent
          </ButtonLink>
          <ButtonLink href={agentAddress(agent, 'erase')} kind="danger">
            Erase agent and its messages
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return formPage(`Settings of ${agent.display_name}`, body, formErrors);
}

interface AccessFieldsProps {
  access: Omit<AccessSettings, 'can_initiate_threads'>;
  errors: Readonly<Record<string, string>>;
}

/** Visibility and inbound policy of an agent. */
function AccessFields({ access, errors }: AccessFieldsProps) {
  return (
    <>
      <Choices
        name="visibility"
        legend="Who can see it"
        choices={visibilityChoices}
        value={access.visibility ?? undefined}
        error={errors['visibility'] && 'Choose one of these options.'}
      />
      <Choices
        name="inbound_policy"
        legend="Who can start threads with it"
        choices={policyChoices}
        value={access.inbound_policy ?? undefined}
        error={errors['inbound_policy'] && 'Choose one of these options.'}
      />
    </>
  );
}

function Pause({ agent }: { agent: AgentOfPerson }) {
  return (
    <Card title={agent.paused ? 'Paused' : 'Pause'}>
      <p>
        {agent.paused
          ? 'The agent cannot send or receive messages. Senders get an error that says so. Its data is kept.'
          : 'A paused agent cannot send or receive messages until you resume it. Its messages and contacts are kept.'}
      </p>
      <Form action={agentAddress(agent, 'settings/pause')} hidden={{ paused: String(!agent.paused) }}>
        <Actions>
          <Button kind={agent.paused ? 'primary' : 'quiet'}>{agent.paused ? 'Resume' : 'Pause'}</Button>
        </Actions>
      </Form>
    </Card>
  );
}
