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
import { Heading } from '../../components/content.tsx';
import { secretPage } from '../../components/secrets.tsx';
import { choicesField, selectField, textField } from '../../define/fields.tsx';
import { formSection } from '../../define/form.tsx';
import { definePage, type PageVisit } from '../../define/page.tsx';
import { BrowserCard, ChannelState, StateBadge } from './channels.tsx';

interface NotificationVisit extends PageVisit {
  settings: NotificationSettings;
}

/** Saves a change of the settings of the person. */
async function save<Input extends unknown[], T>(
  { parts: { limits }, person, write }: NotificationVisit,
  service: WriteService<[account_id: string, ...Input], T>,
  ...input: Input
): Promise<T> {
  await limits.consume('notification_settings', person.account_id);
  return write(service, person.account_id, ...input);
}

const hours = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  text: `${String(hour).padStart(2, '0')}:00`,
}));

/** The notification settings of a person. */
export const notificationsPage = definePage<NotificationVisit>({
  path: '/console/notifications',
  load: async (visit) => ({
    ...visit,
    settings: await visit.read(readNotificationSettings, visit.person.account_id),
  }),
  title: 'Notifications',
  lead: 'Learn of what waits for you: approvals, contact requests, questions, failed webhooks and inboxes. All notifications are off until you turn them on.',
  sections: [
    ({ settings }) => <BrowserCard isOn={settings.browser} />,
    formSection({
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
    formSection({
      name: 'webhook',
      title: 'Webhook',
      action: ({ settings }) => <StateBadge isOn={settings.webhook?.enabled ?? false} />,
      text: ({ settings }) => settings.webhook && <ChannelState channel={settings.webhook} />,
      fields: ({ settings }) => ({
        url: textField(
          settings.webhook ? 'New URL' : 'URL',
          'Requests are signed. The secret is shown once, after you save the URL.',
          { maxlength: 2000, required: true, plain: true },
        ),
      }),
      button: 'Save the URL',
      kind: ({ settings }) => (settings.webhook ? 'quiet' : 'primary'),
      submit: async (visit, { url }) =>
        secretPage({
          heading: <Heading title="Webhook saved" />,
          secrets: [{ label: 'Signing secret', value: await save(visit, setNotificationWebhook, url) }],
          storageNote: 'We store it encrypted',
          text: (
            <p>
              Your server uses it to verify requests from this service, for example with a Standard Webhooks
              library.
            </p>
          ),
          next: visit.address,
        }),
    }),
    formSection({
      name: 'timing',
      title: 'When to send',
      fields: {
        timing: choicesField('E-mail and webhook', [
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
        ]),
        hour: selectField('Hour of the daily message', hours),
        time_zone: textField('Time zone', 'Such as Europe/Berlin, or +05:30.', {
          maxlength: 60,
          required: true,
          plain: true,
        }),
      },
      values: ({ settings }) => ({ ...settings, hour: String(settings.hour) }),
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
