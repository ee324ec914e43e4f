import { inboxTypes } from '../../../../../packages/core/src/events/inbox-types.ts';
import { deleteInboxOperation } from '../../../../operations/inbox/delete-inbox.ts';
import { setInboxOperation } from '../../../../operations/inbox/set-inbox.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Checkbox, Choices } from '../../components/choices.tsx';
import { confirmPage } from '../../components/confirm-page.tsx';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { successFlash } from '../../flash.ts';
import { type FormErrors, formPage, orShowFormAgain, redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { eventText } from '../webhooks/webhook-text.ts';
import { type Inbox, inboxPath, readInboxIfOn } from './read-inbox.ts';

const path = `${inboxPath}/settings`;

/** Form values of an inbox. `from` is the position of a new inbox; null if the inbox is on. */
interface EnteredInbox {
  types: readonly string[];
  lease_seconds: string;
  max_attempts: string;
  ordered_by_thread: boolean;
  from: string | null;
}

/** Turns the inbox of an agent on and off, and changes its settings. */
export function inboxSettingsRoutes(parts: PageParts): ConsoleRoute[] {
  const actingIn = ({ params, person }: PersonVisit) => actAsAgent(parts, person, params['id'] ?? '');

  return [
    page(path, async (visit) => {
      const acting = await actingIn(visit);
      return settingsPage(acting.agent, toEntered(await readInboxIfOn(acting)));
    }),
    action(path, async (visit) => {
      const { agent, call } = await actingIn(visit);
      const entered = readForm(visit.form);
      return orShowFormAgain(
        async () => {
          await call(setInboxOperation, toInput(entered));
          const text = entered.from === null ? 'Inbox settings saved.' : 'The inbox is on.';
          return { to: agentAddress(agent, 'inbox'), flash: successFlash(text) };
        },
        (formErrors) => settingsPage(agent, entered, formErrors),
      );
    }),
    page(`${inboxPath}/off`, async (visit) => {
      const { agent } = await actingIn(visit);
      return confirmPage({
        title: 'Turn the inbox off?',
        children: (
          <p>
            Its items are removed, also dead ones, and its leases end. The messages stay in their
            conversations, and the instances of @{agent.canonical_handle} can no longer claim them.
          </p>
        ),
        action: agentAddress(agent, 'inbox/off'),
        button: 'Turn off',
        back: agentAddress(agent, 'inbox'),
      });
    }),
    action(`${inboxPath}/off`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      return redirectOrWarn(agentAddress(agent, 'inbox'), async () => {
        await call(deleteInboxOperation);
        return 'The inbox is off.';
      });
    }),
  ];
}

function toEntered(inbox: Inbox | undefined): EnteredInbox {
  const { types, lease_seconds, max_attempts, ordered_by_thread } =
    inbox ?? setInboxOperation.input.parse({});
  return {
    types,
    lease_seconds: String(lease_seconds),
    max_attempts: String(max_attempts),
    ordered_by_thread,
    from: inbox ? null : 'now',
  };
}

function readForm(form: URLSearchParams): EnteredInbox {
  return {
    types: [...new Set(form.getAll('types'))],
    lease_seconds: (form.get('lease_seconds') ?? '').trim(),
    max_attempts: (form.get('max_attempts') ?? '').trim(),
    ordered_by_thread: form.get('ordered_by_thread') === 'on',
    from: form.get('from'),
  };
}

/** The form values as operation input. A text that is not a number stays one, and is refused as such. */
function toInput({ lease_seconds, max_attempts, from, ...entered }: EnteredInbox) {
  const toNumber = (text: string) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text);
  return {
    ...entered,
    lease_seconds: toNumber(lease_seconds),
    max_attempts: toNumber(max_attempts),
    ...(from !== null && { from }),
  };
}

function settingsPage(agent: AgentOfPerson, entered: EnteredInbox, formErrors?: FormErrors): ShownPage {
  const inbox = agentAddress(agent, 'inbox');
  const isOn = entered.from === null;
  const title = isOn ? 'Inbox settings' : 'Turn the inbox on';
  const body = (
    <>
      <AgentHeading agent={agent} current={inbox} />
      <Card title={title}>
        <ErrorNotice {...formErrors} />
        <Form action={`${inbox}/settings`}>
          <InboxFields entered={entered} errors={formErrors?.fields ?? {}} />
          <Actions>
            <Button>{isOn ? 'Save' : 'Turn on'}</Button>
            <ButtonLink href={inbox}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage(title, body, formErrors);
}

interface InboxFieldsProps {
  entered: EnteredInbox;
  errors: Readonly<Record<string, string>>;
}

function InboxFields({ entered, errors }: InboxFieldsProps) {
  return (
    <>
      <EventTypes types={entered.types} error={errors['types']} />
      <Field
        name="lease_seconds"
        label="Lease, in seconds"
        hint="An instance has this long for an item, unless it renews the lease. 5 to 43,200."
        value={entered.lease_seconds}
        error={errors['lease_seconds']}
        plain
        required
      />
      <Field
        name="max_attempts"
        label="Attempts"
        hint="An item that was leased this often without an acknowledgement is dead. 1 to 100."
        value={entered.max_attempts}
        error={errors['max_attempts']}
        plain
        required
      />
      <Checkbox
        name="ordered_by_thread"
        label="One item of a thread at a time"
        hint="The oldest first. Otherwise instances can work on several messages of a thread at once."
        checked={entered.ordered_by_thread}
      />
      {entered.from !== null && (
        <Choices
          name="from"
          legend="Which events become items"
          choices={[
            { value: 'now', title: 'New events only' },
            { value: 'earliest', title: 'Also all earlier events that are kept' },
          ]}
          value={entered.from}
          error={errors['from'] && 'Choose one of these options.'}
        />
      )}
    </>
  );
}

function EventTypes({ types, error }: { types: readonly string[]; error: string | undefined }) {
  return (
    <fieldset
      class={error === undefined ? 'choices' : 'choices invalid'}
      aria-describedby={error && 'types-error'}
    >
      <legend>Events</legend>
      <div class="event-types">
        {inboxTypes.map((type) => (
          <Checkbox
            name="types"
            value={type}
            label={eventText(type)}
            hint={<span class="code">{type}</span>}
            checked={types.includes(type)}
            key={type}
          />
        ))}
      </div>
      {error !== undefined && (
        <p class="error" id="types-error">
          Select at least one of these events.
        </p>
      )}
    </fieldset>
  );
}
