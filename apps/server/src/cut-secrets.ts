const SECRET_SHAPES = /\b(rtok|fbk|rvw|sess)_[A-Za-z0-9_-]{8,}/g;
const JWT_SHAPE = /\beyJ[\w-]{8,}(?:\.[\w-]*){1,4}/g;

/** Nothing secret is handed to the logger; should it slip into an error's text, it is cut here. */
export const cutSecrets = (text: string): string => text.replace(SECRET_SHAPES, "$1_…").replace(JWT_SHAPE, "eyJ…");
