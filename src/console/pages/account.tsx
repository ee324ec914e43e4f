import { changePassword } from '../../services/sign-in.ts';
import { said } from '../flash.ts';
import { Card, Facts, Heading, Notice } from '../kit/content.tsx';
import { Field } from '../kit/field.tsx';
import { Actions, Button, Form } from '../kit/form.tsx';
import type { PageParts } from '../parts.ts';
import { orAgain, type Refusal } from '../refusal.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';

/** The account of a person. */
export function accountRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page('/console/account', ({ person }) => accountPage(person.username)),
    action('/console/account/password', ({ form, person }) =>
      orAgain(
        async () => {
          const passwords = { current: form.get('current') ?? '', next: form.get('next') ?? '' };
          await changePassword(unitOfWork, person, passwords);
          const text = 'Your password is changed. Every other browser is signed out.';
          return { to: '/console/account', flash: said(text) };
        },
        (refusal) => accountPage(person.username, refusal),
      ),
    ),
  ];
}

function accountPage(username: string, refusal?: Refusal): ShownPage {
  const wrong = refusal?.fields ?? {};
  const body = (
    <>
      <Heading title="Account" />
      <Card>
        <Facts
          facts={[
            ['Username', username],
            ['Handles of your agents', <span class="code">{username}.…</span>],
          ]}
        />
      </Card>
      <Card title="Password">
        {refusal?.message !== undefined && <Notice tone="danger">{refusal.message}</Notice>}
        <Form action="/console/account/password">
          <input type="text" name="username" value={username} autocomplete="username" readOnly hidden />
          <Field
            name="current"
            label="Current password"
            type="password"
            error={wrong['current']}
            autocomplete="current-password"
            required
          />
          <Field
            name="next"
            label="New password"
            type="password"
            hint="10 characters or more. Changing it signs you out everywhere else."
            error={wrong['next']}
            autocomplete="new-password"
            minlength={10}
            maxlength={200}
            required
          />
          <Actions>
            <Button>Change the password</Button>
          </Actions>
        </Form>
      </Card>
    </>
  );
  const title = refusal ? 'Error: Account' : 'Account';
  return { title, body, status: refusal?.status ?? 200, retry_after: refusal?.retry_after };
}
