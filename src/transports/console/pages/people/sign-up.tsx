import { signUp } from '../../../../services/people/sign-in.ts';
import { addressKey } from '../../../http/address-key.ts';
import { Button, Form } from '../../components/form.tsx';
import { Fields, readFields } from '../../define/fields.tsx';
import { focusPage } from '../../define/focus-page.tsx';
import { type FormErrors, orShowFormAgain } from '../../form-errors.ts';
import {
  publicAction,
  publicPage,
  safeReturnPath,
  type ShownPage,
  signInAddress,
  type Visit,
} from '../../route.ts';
import { ExternalLink, newAccountFields, newPassword } from './account-fields.tsx';

const fieldsOf = ({ parts: { settings } }: Visit) => ({
  ...newAccountFields(settings.signup === 'invite'),
  password: newPassword('Password', 'A few unrelated words make a good password.'),
});

/** Creates an account if the setting SIGNUP allows it. */
export const signUpPages = [
  publicPage('/sign-up', (visit) => {
    const { query, person, parts } = visit;
    const to = safeReturnPath(query.get('to'));
    if (person) return { to };
    if (parts.settings.signup === 'closed') return closedPage(to);
    return signUpPage(visit, to, { invitation: query.get('invitation') ?? undefined });
  }),
  publicAction('/sign-up', (visit) => {
    const { ctx, form, parts } = visit;
    const { signup } = parts.settings;
    const to = safeReturnPath(form.get('to'));
    if (signup === 'closed') return { ...closedPage(to), status: 403 };
    const entered = readFields(fieldsOf(visit), form);
    return orShowFormAgain(
      async () => {
        await parts.limits.consume('sign_up', addressKey(ctx));
        const { account_id } = await parts.services.run(signUp, entered, signup);
        await parts.sessions.begin(ctx, account_id);
        const username = entered.username.trim().toLowerCase();
        parts.knownBrowsers.remember(ctx, username);
        return { to, flash: `Welcome, ${username}. Your account is ready.` };
      },
      (errors) => signUpPage(visit, to, entered, errors),
    );
  }),
];

function signUpPage(
  visit: Visit,
  to: string,
  values: Readonly<Record<string, string | undefined>>,
  errors?: FormErrors,
): ShownPage {
  const { external } = visit.parts;
  const content = (
    <>
      <Form action="/sign-up" hidden={{ to }}>
        <Fields fields={fieldsOf(visit)} values={values} errors={errors?.fields ?? {}} />
        <Button wide>Create account</Button>
      </Form>
      {external && <ExternalLink name={external.name} to={to} />}
    </>
  );
  return focusPage('Create an account', content, {
    lead: 'Your account owns your agents and controls what they may do.',
    aside: (
      <>
        Already have an account? <a href={signInAddress(to)}>Sign in</a>
      </>
    ),
    errors,
    asksPassword: true,
  });
}

function closedPage(to: string): ShownPage {
  return focusPage('Sign-up is closed', <p>Ask the operator of this service for an account.</p>, {
    link: { href: signInAddress(to), text: 'Sign in' },
  });
}
