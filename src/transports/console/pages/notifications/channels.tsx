import type { NotificationSettings } from '../../../../services/notifications/settings.ts';
import { Badge, Card, Facts } from '../../components/content.tsx';
import { Actions, Button, Form, PostButton } from '../../components/form.tsx';
import { Time } from '../../components/rows.tsx';

const path = '/console/notifications';

/** Notifications of the browser. The second button works only with a script. */
export function BrowserCard({ isOn }: { isOn: boolean }) {
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

/** Whether a channel is on. */
export function StateBadge({ isOn }: { isOn: boolean }) {
  return <Badge tone={isOn ? 'good' : 'plain'}>{isOn ? 'On' : 'Off'}</Badge>;
}

const offTexts = {
  failing: 'It was turned off, because no message arrived for three days.',
  gone: 'It was turned off, because the receiver answered with status 410.',
  unsubscribed: 'It was turned off by the link in an e-mail.',
};

/** The state of e-mail or of the webhook, and buttons for it. */
export function ChannelState({ channel }: { channel: NonNullable<NotificationSettings['email']> }) {
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
