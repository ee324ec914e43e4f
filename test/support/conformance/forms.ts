/** A form with two fields to fill in. */
export const userDetailsForm = buildForm(
  {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  ['username', 'email'],
);

/** A form with a default for each type of field. */
export const allDefaultsForm = buildForm({
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
});

/** A form with each kind of choice that there is. */
export const choicesForm = buildForm({
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titledOptions('Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titledOptions('Choice') } },
});

function titledOptions(noun: string): object[] {
  return ['First', 'Second', 'Third'].map((which, index) => ({
    const: `value${index + 1}`,
    title: `${which} ${noun}`,
  }));
}

function buildForm(properties: Record<string, object>, required: readonly string[] = []): object {
  return { type: 'object', properties, required };
}
