import type { NotificationSettings } from '../../../../services/notifications/settings.ts';
import { Choices } from '../../components/choices.tsx';
import { Badge, Card, ErrorNotice, Facts, Heading } from '../../components/content.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { OneTimeSecrets } from '../../components/secrets.tsx';
import { Time } from '../../components/time.tsx';
import { type FormErrors, formPage } from '../../form-errors.ts';
import type { ShownPage } from '../../route.ts';

const path = '/console/notifications';

type Channel = NonNullable<NotificationSettings['email']>;

interface PageOptions {
  formErrors: FormErrors | undefined;
  /** Whether this service sends e-mail. */
  sends_mail: boolean;
}

/** The page with all settings. */
export function notificationsPage(
  settings: NotificationSettings,
  { formErrors, sends_mail }: PageOptions,
): ShownPage {
  const errors = formErrors?.fields ?? {};
  const body = (
    <>
      <Heading
        title="Notifications"
        lead="Learn of what waits for you: approvals, contact requests, questions, failed webhooks and inboxes. All notifications are off until you turn them on."
      />
      <ErrorNotice {...formErrors} />
      <BrowserCard isOn={settings.browser} />
      {sends_mail && <EmailCard channel={settings.email} error={errors['email']} />}
      <WebhookCard channel={settings.webhook} error={errors['url']} />
      <TimingCard settings={settings} errors={errors} />
    </>
  );
  return { ...formPage('Notifications', body, formErrors), script: 'notify' };
}

function BrowserCard({ isOn }: { isOn: boolean }) {
  return (
    <Card title="Browser" action={<StateBadge isOn={isOn} />}>
      <p>
        While a page of the console is open, your browser shows what begins to wait for you. E-mail and
        webhook wait until the page is closed.
      </p>
      <Form action={`${path}/browser`} hidden={{ browser: isOn ? 'off' : 'on' }}>
        <Actions>
          <Button kind={isOn ? 'quiet' : 'primary'}>
            {isOn ? 'Turn browser notifications off' : 'Turn browser notifications on'}
          </Button>
          <button type="button" class="button quiet" data-notify={isOn ? 'on' : 'off'} hidden>
            Allow notifications in this browser
          </button>
        </Actions>
      </Form>
    </Card>
  );
}

function StateBadge({ isOn }: { isOn: boolean }) {
  return <Badge tone={isOn ? 'good' : 'plain'}>{isOn ? 'On' : 'Off'}</Badge>;
}

interface ChannelCard {
  channel: Channel | undefined;
  error: string | undefined;
}

function EmailCard({ channel, error }: ChannelCard) {
  return (
    <Card title="E-mail" action={<StateBadge isOn={channel?.enabled ?? false} />}>
      {channel && <ChannelState channel={channel} />}
      <Form action={`${path}/email`}>
        <Field
          name="email"
          label={channel ? 'New e-mail address' : 'E-mail address'}
          hint="We send a link to this address. It turns e-mail on, and is valid for 24 hours."
          error={error}
          autocomplete="email"
          maxlength={254}
          required
          plain
        />
        <Actions>
          <Button kind={channel ? 'quiet' : 'primary'}>Send the link</Button>
        </Actions>
      </Form>
    </Card>
  );
}

function WebhookCard({ channel, error }: ChannelCard) {
  return (
    <Card title="Webhook" action={<StateBadge isOn={channel?.enabled ?? false} />}>
      {channel && <ChannelState channel={channel} />}
      <Form action={`${path}/webhook`}>
        <Field
          name="url"
          label={channel ? 'New URL' : 'URL'}
          hint="Requests are signed. The secret is shown once, after you save the URL."
          error={error}
          maxlength={2000}
          required
          plain
        />
        <Actions>
          <Button kind={channel ? 'quiet' : 'primary'}>Save the URL</Button>
        </Actions>
      </Form>
    </Card>
  );
}

const offTexts = {
  failing: 'It was turned off, because no message arrived for three days.',
  gone: 'It was turned off, because the receiver answered with status 410.',
  unsubscribed: 'It was turned off by the link in an e-mail.',
};

const names = { email: 'e-mail', webhook: 'webhook' };

function ChannelState({ channel }: { channel: Channel }) {
  const { kind, target, enabled, off_reason, last_error, failed_since, last_sent_at } = channel;
  const name = names[kind];
  return (
    <>
      <Facts
        facts={[
          [kind === 'email' ? 'Address' : 'URL', <bdi>{target}</bdi>],
          ['State', enabled ? 'On' : off_reason ? offTexts[off_reason] : 'The address is not confirmed yet.'],
          ...(last_sent_at === null ? [] : [['Last message', <Time at={last_sent_at} />] as const]),
          ...(last_error === null ? [] : [['Last error', last_error] as const]),
          ...(failed_since === null ? [] : [['Fails since', <Time at={failed_since} />] as const]),
        ]}
      />
      <Actions>
        {enabled && (
          <Form action={`${path}/test`} class="inline" hidden={{ channel: kind }}>
            <Button kind="quiet">
              Send a test message<span class="visually-hidden"> by {name}</span>
            </Button>
          </Form>
        )}
        <Form action={`${path}/off`} class="inline" hidden={{ channel: kind }}>
          <Button kind="quiet">
            {enabled ? 'Turn off' : 'Remove'}
            <span class="visually-hidden"> {name}</span>
          </Button>
        </Form>
      </Actions>
    </>
  );
}

const hours = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  text: `${String(hour).padStart(2, '0')}:00`,
}));

interface TimingCardProps {
  settings: NotificationSettings;
  errors: FormErrors['fields'];
}

function TimingCard({ settings, errors }: TimingCardProps) {
  return (
    <Card title="When to send">
      <Form action={`${path}/timing`}>
        <Choices
          name="timing"
          legend="E-mail and webhook"
          value={settings.timing}
          error={errors['timing']}
          choices={[
            {
              value: 'at_once',
              title: 'At once',
              text: 'What begins to wait within a minute is one message.',
            },
            {
              value: 'daily',
              title: 'Once a day',
              text: 'One message with everything that is new and still waits.',
            },
          ]}
        />
        <Select
          name="hour"
          label="Hour of the daily message"
          value={String(settings.hour)}
          options={hours}
          error={errors['hour']}
        />
        <Field
          name="time_zone"
          label="Time zone"
          hint="Such as Europe/Berlin, or +05:30."
          value={settings.time_zone}
          error={errors['time_zone']}
          maxlength={60}
          required
          plain
        />
        <Actions>
          <Button>Save</Button>
        </Actions>
      </Form>
    </Card>
  );
}

/** The page with a new signing secret, which is shown only once. */
export function notificationSecretPage(secret: string): ShownPage {
  const body = (
    <>
      <Heading title="Webhook saved" />
      <Card>
        <OneTimeSecrets
          secrets={[{ label: 'Signing secret', value: secret }]}
          storageNote="We store it encrypted"
        />
        <p>
          Your server uses it to verify requests from this service, for example with a Standard Webhooks
          library.
        </p>
        <Actions>
          <ButtonLink href={path} kind="primary">
            Done
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Copy the secret', body, script: 'copy' };
}
