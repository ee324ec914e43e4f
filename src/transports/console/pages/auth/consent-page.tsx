import type { AuthorizationRequest } from '../../../http/authorization-requests.ts';
import type { Person } from '../../../../domain/auth/actor.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Choices } from '../../components/choices.tsx';
import { Badge, Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { NameField } from '../../components/name-field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import type { FormRefusal } from '../../form-errors.ts';
import type { ShownPage } from '../../route.ts';
import { Caution, ClientFacts } from './consent-client.tsx';
import { abilitiesOf } from './scope-text.ts';

export interface Consent {
  request: AuthorizationRequest;
  person: Person;
  /** Whom the app may act as, those first that are in `before`. */
  agents: readonly AgentOfPerson[];
  /** How many there are, before some of them are searched for. */
  total: number;
  /** What the person searches for among them. */
  search: string;
  /** Ids of agents as which the person lets this client act already, in all that it asks for now. */
  approvedAgentIds: ReadonlySet<string>;
  /** The one that is chosen already. */
  chosen?: string | undefined;
  /** What is wrong with the choice. */
  choice_error?: string;
  /** What is wrong with the agent that was to be made. */
  refusal?: FormRefusal;
  /** As it was entered. */
  name?: string;
}

/** More agents than one sees at once can be searched. */
const maxAgentsWithoutSearch = 8;

/** The page on which a person lets an app act as one of their agents, or does not. */
export function consentPage(consent: Consent): ShownPage {
  const { request, person, refusal, choice_error } = consent;
  const address = `/authorize/requests/${request.uid}`;
  const body = (
    <>
      <Heading title="Let this app act as your agent?" />
      <Card>
        <ClientFacts {...request} />
      </Card>
      <Card title="It will be able to">
        <Abilities {...request} />
      </Card>
      {consent.total === 0 ? (
        <Card title="You need an agent first">
          <p>The app acts as an agent: an address that it writes from and is written to.</p>
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
          <details class="more" open={refusal !== undefined}>
            <summary>Make another agent for it</summary>
            <NewAgent {...consent} address={address} />
          </details>
        </Card>
      )}
      <div class="aside">
        <p>You can take this back at any time, under Connected apps.</p>
        <div>
          You are <strong>{person.username}</strong>.{' '}
          <Form action="/sign-out" class="inline" hidden={{ to: address }}>
            <button class="link" type="submit">
              Not you?
            </button>
          </Form>
        </div>
      </div>
    </>
  );
  const failed = refusal !== undefined || choice_error !== undefined;
  return {
    title: failed ? 'Error: Let an app act as your agent' : 'Let an app act as your agent?',
    body,
    status: refusal?.status ?? (choice_error === undefined ? 200 : 400),
    shell: 'focus',
    form_target: request.redirect_target,
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
        legend={agents.length === 0 ? 'No agent of yours is called so' : 'Act as'}
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
      <Caution {...request.client} />
      <Actions even>
        <Button name="decision" value="approve">
          Approve
        </Button>
        <Button kind="quiet" name="decision" value="cancel" unchecked>
          Cancel
        </Button>
      </Actions>
    </Form>
  );
}

function NewAgent({ person, refusal, name, address }: Consent & { address: string }) {
  const wrong = refusal?.fields ?? {};
  return (
    <Form action={address}>
      <ErrorNotice {...refusal} />
      <NameField
        name="name"
        label="Handle"
        prefix={`@${person.username}.`}
        permanenceHint="It cannot be changed later."
        value={name}
        error={wrong['name']}
      />
      <Actions>
        <Button name="decision" value="create">
          Create this agent
        </Button>
      </Actions>
    </Form>
  );
}
