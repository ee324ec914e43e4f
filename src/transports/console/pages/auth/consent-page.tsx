import type { AuthorizationRequest } from '../../../http/authorization-requests.ts';
import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { Handle } from '../../components/rows.tsx';
import { Choices } from '../../components/choices.tsx';
import { Badge, Card, ErrorNotice, Heading, Icon } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import type { FormErrors } from '../../form-errors.ts';
import type { ShownPage } from '../../route.ts';
import { Fields } from '../../define/fields.tsx';
import { name as nameField, SignedInAs } from '../people/account-fields.tsx';
import { ConsentWarning, ClientFacts } from './consent-client.tsx';
import { abilitiesOf } from './scopes.tsx';

export interface Consent {
  request: AuthorizationRequest;
  person: Person;
  /** Agents to choose from; those approved before come first. */
  agents: readonly AgentOfPerson[];
  /** Number of agents without the search. */
  total: number;
  /** Search text. */
  search: string;
  /** Ids of agents for which the person already approved this client with the same scopes. */
  approvedAgentIds: ReadonlySet<string>;
  /** Preselected agent id. */
  chosen?: string | undefined;
  /** Error of the agent choice. */
  choice_error?: string;
  /** Errors of the new-agent form. */
  formErrors?: FormErrors;
  /** Entered name of the new agent. */
  name?: string;
}

/** With more agents the page has a search. */
const maxAgentsWithoutSearch = 8;

/** The page on which a person approves or denies an app. */
export function consentPage(consent: Consent): ShownPage {
  const { request, person, formErrors, choice_error } = consent;
  const address = `/authorize/requests/${request.uid}`;
  const body = (
    <>
      <Heading title="Allow this app to act as your agent?" />
      <Card>
        <ClientFacts {...request} />
      </Card>
      <Card title="It will be able to">
        <Abilities {...request} />
      </Card>
      {consent.total === 0 ? (
        <Card title="You need an agent first">
          <p>The app acts as an agent: the identity with which it sends and receives messages.</p>
          <NewAgent {...consent} address={address} />
          <Form action={address}>
            <Button kind="quiet" name="decision" value="cancel" wide>
              Cancel
            </Button>
          </Form>
        </Card>
      ) : (
        <Card>
          {consent.total > maxAgentsWithoutSearch && <Search {...consent} address={address} />}
          <Decision {...consent} address={address} />
          <details class="more" open={formErrors !== undefined}>
            <summary>Create another agent for this app</summary>
            <NewAgent {...consent} address={address} />
          </details>
        </Card>
      )}
      <div class="aside">
        <p>You can disconnect the app at any time under Connected apps.</p>
        <SignedInAs username={person.username} to={address} />
      </div>
    </>
  );
  const hasErrors = formErrors !== undefined || choice_error !== undefined;
  return {
    title: hasErrors ? 'Error: Allow an app to act as your agent' : 'Allow an app to act as your agent?',
    body,
    status: formErrors?.status ?? (choice_error === undefined ? 200 : 400),
    shell: 'focus',
    form_leaves: true,
  };
}

function Abilities({ scopes }: AuthorizationRequest) {
  return (
    <ul class="abilities">
      {abilitiesOf(scopes).map(({ title, text, wide = false }) => (
        <li class={wide ? 'wide' : undefined} key={title}>
          <Icon name={wide ? 'alert' : 'check'} />
          <div>
            <p class="ability">{title}</p>
            <p class="hint">{text}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}

function Search({ search, address }: Consent & { address: string }) {
  return (
    <form class="search" method="get" action={address} role="search">
      <Field name="search" label="Search your agents" value={search} maxlength={80} plain />
      <Button kind="quiet">Search</Button>
    </form>
  );
}

function Decision({
  request,
  agents,
  approvedAgentIds,
  chosen,
  choice_error,
  address,
}: Consent & { address: string }) {
  return (
    <Form action={address}>
      <Choices
        name="agent_id"
        legend={agents.length === 0 ? 'No matching agents' : 'Act as'}
        value={chosen}
        error={choice_error}
        choices={agents.map((agent) => ({
          value: agent.id,
          title: agent.display_name,
          text: <Handle of={agent.canonical_handle} />,
          note: (
            <>
              {agent.paused && <Badge tone="warning">Paused</Badge>}
              {approvedAgentIds.has(agent.id) && <Badge tone="accent">Approved before</Badge>}
            </>
          ),
        }))}
      />
      <ConsentWarning {...request.client} />
      <Actions even>
        <Button name="decision" value="approve">
          Approve
        </Button>
        <Button kind="quiet" name="decision" value="cancel" skipsValidation>
          Cancel
        </Button>
      </Actions>
    </Form>
  );
}

function NewAgent({ person, formErrors, name, address }: Consent & { address: string }) {
  const prefix = `@${person.username}.`;
  return (
    <Form action={address}>
      <ErrorNotice {...formErrors} />
      <Fields
        fields={{ name: nameField('Handle', 'It cannot be changed later.', { prefix }) }}
        values={{ name }}
        errors={formErrors?.fields ?? {}}
      />
      <Actions>
        <Button name="decision" value="create">
          Create agent
        </Button>
      </Actions>
    </Form>
  );
}
