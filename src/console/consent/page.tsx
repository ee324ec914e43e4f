import type { AuthorizationRequest } from '../../http/authorization-requests.ts';
import type { Person } from '../../domain/person.ts';
import type { AgentOfPerson } from '../../services/person-agents.ts';
import { Handle } from '../kit/agents.tsx';
import { Choices } from '../kit/choices.tsx';
import { Badge, Card, Heading, Refused } from '../kit/content.tsx';
import { Field } from '../kit/field.tsx';
import { NameField } from '../kit/name-field.tsx';
import { Actions, Button, Form } from '../kit/form.tsx';
import { Icon } from '../kit/icon.tsx';
import type { Refusal } from '../refusal.ts';
import type { ShownPage } from '../route.ts';
import { Caution, ClientFacts } from './client.tsx';
import { abilitiesOf } from './words.ts';

export interface Consent {
  request: AuthorizationRequest;
  person: Person;
  /** Whom the app may act as, those first that are in `before`. */
  agents: readonly AgentOfPerson[];
  /** How many there are, before some of them are searched for. */
  all: number;
  /** What the person searches for among them. */
  search: string;
  /** Ids of agents as which the person lets this client act already, in all that it asks for now. */
  before: ReadonlySet<string>;
  /** The one that is chosen already. */
  chosen?: string | undefined;
  /** What is wrong with the choice. */
  choice_error?: string;
  /** What is wrong with the agent that was to be made. */
  refusal?: Refusal;
  /** As it was entered. */
  name?: string;
}

/** More agents than one sees at once can be searched. */
const mostAtOnce = 8;

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
      {consent.all === 0 ? (
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
          {consent.all > mostAtOnce && <Search {...consent} address={address} />}
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

function Decision({ request, agents, before, chosen, choice_error, address }: Consent & { address: string }) {
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
              {before.has(agent.id) && <Badge tone="accent">Approved before</Badge>}
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
      <Refused {...refusal} />
      <NameField
        name="name"
        label="Handle"
        prefix={`@${person.username}.`}
        lasting="It cannot be changed later."
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
