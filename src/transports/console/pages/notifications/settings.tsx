import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { notificationChannels } from '../../../../../packages/core/src/domain/notifications.ts';
import {
  type NotificationSettings,
  readNotificationSettings,
  removeChannel,
  requireAddress,
  sendTestNotification,
  setBrowserNotifications,
  setNotificationAddress,
  setNotificationTiming,
  setNotificationWebhook,
} from '../../../../services/notifications/settings.ts';
import type { WriteService } from '../../../../services/people/service-calls.ts';
import { Heading, Badge, Card, Facts } from '../../components/content.tsx';
import { signingSecretPage } from '../../components/secrets.tsx';
import { choicesField, selectField, textField, urlField } from '../../define/fields.tsx';
import { definePage } from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';
import { Actions, Button, Form, PostButton } from '../../components/form.tsx';
import { Time } from '../../components/rows.tsx';
import { timeZoneOf } from '../../time-zone.ts';

const path = '/console/notifications';

/** Notifications of the browser. The second button works only with a script. */
function showBrowser({ settings: { browser: isOn }, address }: NotificationVisit) {
  return (
    <Card title="Browser" action={<StateBadge isOn={isOn} />}>
      <p>
        While a page of the console is open, your browser shows new pending items. E-mail and webhook wait
        until the page is closed.
      </p>
      <Form action={`${address}/browser`} hidden={{ browser: isOn ? 'off' : 'on' }}>
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

/** Whether a channel is on. */
function StateBadge({ isOn }: { isOn: boolean }) {
  return <Badge tone={isOn ? 'good' : 'plain'}>{isOn ? 'On' : 'Off'}</Badge>;
}

const offTexts = {
  failing: 'It was turned off, because no message arrived for three days.',
  gone: 'It was turned off, because the receiver answered with status 410.',
  unsubscribed: 'It was turned off by the link in an e-mail.',
};

/** The state of e-mail or of the webhook, and buttons for it. */
function ChannelState({ channel }: { channel: NonNullable<NotificationSettings['email']> }) {
  const { kind, target, enabled, off_reason, last_error, failed_since, last_sent_at } = channel;
  const name = kind === 'email' ? 'e-mail' : 'webhook';
  return (
    <>
      <Facts
        facts={[
          [kind === 'email' ? 'Address' : 'URL', <bdi>{target}</bdi>],
          ['State', enabled ? 'On' : off_reason ? offTexts[off_reason] : 'The address is not confirmed yet.'],
          last_sent_at !== null && ['Last message', <Time at={last_sent_at} />],
          last_error !== null && ['Last error', last_error],
          failed_since !== null && ['Fails since', <Time at={failed_since} />],
        ]}
      />
      <Actions>
        {enabled && (
          <PostButton
            label="Send a test message"
            action={`${path}/test`}
            hidden={{ channel: kind }}
            about={`by ${name}`}
          />
        )}
        <PostButton
          label={enabled ? 'Turn off' : 'Remove'}
          action={`${path}/off`}
          hidden={{ channel: kind }}
          about={name}
        />
      </Actions>
    </>
  );
}

interface NotificationVisit extends PageVisit {
  settings: NotificationSettings;
}

/** Saves a change of the settings of the person. */
async function save<Input extends unknown[], T>(
  { parts: { limits }, person, write }: PageVisit,
  service: WriteService<[account_id: string, ...Input], T>,
  ...input: Input
): Promise<T> {
  await limits.consume('notification_settings', person.account_id);
  return write(service, person.account_id, ...input);
}

const timings = [
  { value: 'at_once', title: 'At once', text: 'Items of the same minute are in one message.' },
  { value: 'daily', title: 'Once a day', text: 'One message with everything that is new and still waits.' },
];

const hours = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  text: `${String(hour).padStart(2, '0')}:00`,
}));

/** The notification settings of a person. */
export const notificationsPage = definePage({
  path,
  load: async ({ read, person }) => ({
    settings: await read(readNotificationSettings, person.account_id),
  }),
  title: 'Notifications',
  lead: 'Choose how you learn of things that need you: approvals, contact requests, questions, failed webhooks and inboxes. All notifications are off until you turn them on.',
  sections: ({ form }) => [
    showBrowser,
    form({
      name: 'email',
      title: 'E-mail',
      isShown: ({ parts }) => parts.settings.sends_mail,
      action: ({ settings }) => <StateBadge isOn={settings.email?.enabled ?? false} />,
      text: ({ settings }) => settings.email && <ChannelState channel={settings.email} />,
      fields: ({ settings }) => ({
        email: textField(
          settings.email ? 'New e-mail address' : 'E-mail address',
          'We send a link to this address. It turns e-mail on, and is valid for 24 hours.',
          { autocomplete: 'email', maxlength: 254, required: true, plain: true },
        ),
      }),
      button: 'Send the link',
      kind: ({ settings }) => (settings.email ? 'quiet' : 'primary'),
      async submit(visit, { email }) {
        const { parts, person } = visit;
        if (!parts.settings.sends_mail) throw new DomainError('NOT_FOUND', 'This service sends no e-mail.');
        requireAddress(email);
        await parts.limits.consume('notification_message', person.account_id);
        await parts.limits.consume('notification_message', email.toLowerCase());
        await save(visit, setNotificationAddress, email);
        return 'Open the link that we send to this address.';
      },
    }),
    form({
      name: 'webhook',
      title: 'Webhook',
      action: ({ settings }) => <StateBadge isOn={settings.webhook?.enabled ?? false} />,
      text: ({ settings }) => settings.webhook && <ChannelState channel={settings.webhook} />,
      fields: ({ settings }) => ({
        url: urlField(
          settings.webhook ? 'New URL' : 'URL',
          'Requests are signed. The secret is shown once, after you save the URL.',
        ),
      }),
      button: 'Save the URL',
      kind: ({ settings }) => (settings.webhook ? 'quiet' : 'primary'),
      submit: async (visit, { url }) =>
        signingSecretPage(await save(visit, setNotificationWebhook, url), {
          heading: <Heading title="Webhook saved" />,
          next: visit.address,
        }),
    }),
    form({
      name: 'timing',
      title: 'When to send',
      fields: {
        timing: choicesField('E-mail and webhook', timings),
        hour: selectField('Hour of the daily message', hours),
        time_zone: textField('Time zone', 'Such as Europe/Berlin, or +05:30.', {
          maxlength: 60,
          required: true,
          plain: true,
        }),
      },
      values: ({ settings, ctx, person }) => ({
        timing: settings.timing,
        hour: String(settings.hour),
        time_zone: settings.time_zone ?? timeZoneOf(ctx, person) ?? 'UTC',
      }),
      button: 'Save',
      async submit(visit, { hour, ...timing }) {
        await save(visit, setNotificationTiming, { ...timing, hour: Number(hour || NaN) });
        return 'Saved.';
      },
    }),
  ],
  changes: {
    async browser(visit) {
      await save(visit, setBrowserNotifications, visit.form.get('browser') === 'on');
      return 'Saved.';
    },
    async off(visit) {
      await save(visit, removeChannel, requireChannel(visit.form));
      return 'Turned off.';
    },
    async test({ parts, person, write, form: sent }) {
      const kind = requireChannel(sent);
      await parts.limits.consume('notification_message', person.account_id);
      const isOn = await write(sendTestNotification, person.account_id, kind);
      if (!isOn) throw new DomainError('NOT_FOUND', 'This channel is off.');
      return 'A test message is sent within seconds. Reload the page to see the result.';
    },
  },
});

/** @throws {DomainError} VALIDATION_ERROR */
function requireChannel(sent: URLSearchParams) {
  const found = notificationChannels.find((kind) => kind === sent.get('channel'));
  if (!found) throw new DomainError('VALIDATION_ERROR', 'channel: must be email or webhook');
  return found;
}
