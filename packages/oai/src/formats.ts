import type { Json } from "@formbridge/contract";
import type { PublishedContent, PublishedRecord } from "@formbridge/core";
import { toSeconds } from "./dates.ts";
import { element, leaf, writeAttributes, type Xml } from "./xml.ts";

/** A record with content. */
export interface LiveRecord extends PublishedRecord {
  content: PublishedContent;
}

export interface MetadataFormat {
  prefix: string;
  namespace: string;
  /** The URL of its schema on this server. */
  schema(baseUrl: string): string;
  write(record: LiveRecord, at: { identifier: string; schema: string }): Xml;
}

const XSI = "http://www.w3.org/2001/XMLSchema-instance";
const OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/";

const OAI_DC_SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd";
const OAI_DC_ATTRIBUTES = writeAttributes({
  "xmlns:oai_dc": OAI_DC,
  "xmlns:dc": "http://purl.org/dc/elements/1.1/",
  "xmlns:xsi": XSI,
  "xsi:schemaLocation": `${OAI_DC} ${OAI_DC_SCHEMA}`,
});

const dublinCore: MetadataFormat = {
  prefix: "oai_dc",
  namespace: OAI_DC,
  schema: () => OAI_DC_SCHEMA,
  write({ content }, { identifier }) {
    const { dc, intakeName, finalizedAt } = content;
    // Defaults for elements that the intake doesn't map.
    const { title = [intakeName], date = [toSeconds(finalizedAt)], identifier: ids = [identifier], ...others } = dc;
    const elements: Xml[] = [];
    for (const [name, values] of Object.entries({ title, date, identifier: ids, ...others })) {
      for (const value of values) elements.push(leaf(`dc:${name}`, value));
    }
    return element("oai_dc:dc", OAI_DC_ATTRIBUTES, ...elements);
  },
};

export const RECORD_NAMESPACE = "urn:x-formbridge:record:1";
export const SCHEMA_FILE = "record.xsd";

const fullRecord: MetadataFormat = {
  prefix: "formbridge",
  namespace: RECORD_NAMESPACE,
  schema: (baseUrl) => `${baseUrl}/${SCHEMA_FILE}`,
  write({ submissionId, intakeId, content }, { schema }) {
    const { intakeName, intakeVersion, submittedAt, finalizedAt, fields } = content;
    return element(
      "submission",
      {
        xmlns: RECORD_NAMESPACE,
        "xmlns:xsi": XSI,
        "xsi:schemaLocation": `${RECORD_NAMESPACE} ${schema}`,
        id: submissionId,
      },
      leaf("intake", intakeName, { id: intakeId, version: intakeVersion }),
      leaf("submittedAt", new Date(submittedAt).toISOString()),
      leaf("finalizedAt", new Date(finalizedAt).toISOString()),
      ...fields.map(({ path, value }) => element("field", { path }, jsonXml(value))),
    );
  },
};

/** JSON as XML, one element per value. */
function jsonXml(value: Json, name?: string): Xml {
  if (value === null) return element("null", { name });
  if (Array.isArray(value)) return element("array", { name }, ...value.map((item) => jsonXml(item)));
  if (typeof value === "object") {
    return element("object", { name }, ...Object.entries(value).map(([key, inner]) => jsonXml(inner, key)));
  }
  return leaf(typeof value, String(value), { name });
}

export const FORMATS: readonly MetadataFormat[] = [dublinCore, fullRecord];

/** The schema of our own format. */
export const RECORD_SCHEMA = `<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="${RECORD_NAMESPACE}" targetNamespace="${RECORD_NAMESPACE}"
    elementFormDefault="qualified">
  <xs:element name="submission">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="intake">
          <xs:complexType>
            <xs:simpleContent>
              <xs:extension base="xs:string">
                <xs:attribute name="id" type="xs:string" use="required"/>
                <xs:attribute name="version" type="xs:string" use="required"/>
              </xs:extension>
            </xs:simpleContent>
          </xs:complexType>
        </xs:element>
        <xs:element name="submittedAt" type="xs:dateTime"/>
        <xs:element name="finalizedAt" type="xs:dateTime"/>
        <xs:element name="field" minOccurs="0" maxOccurs="unbounded">
          <xs:complexType>
            <xs:group ref="value"/>
            <xs:attribute name="path" type="xs:string" use="required"/>
          </xs:complexType>
        </xs:element>
      </xs:sequence>
      <xs:attribute name="id" type="xs:string" use="required"/>
    </xs:complexType>
  </xs:element>
  <xs:group name="value">
    <xs:choice>
      <xs:element name="object" type="container"/>
      <xs:element name="array" type="container"/>
      <xs:element name="string" type="text"/>
      <xs:element name="number" type="decimal"/>
      <xs:element name="boolean" type="truth"/>
      <xs:element name="null" type="nothing"/>
    </xs:choice>
  </xs:group>
  <xs:complexType name="container">
    <xs:group ref="value" minOccurs="0" maxOccurs="unbounded"/>
    <xs:attribute name="name" type="xs:string"/>
  </xs:complexType>
  <xs:complexType name="text">
    <xs:simpleContent>
      <xs:extension base="xs:string"><xs:attribute name="name" type="xs:string"/></xs:extension>
    </xs:simpleContent>
  </xs:complexType>
  <xs:complexType name="decimal">
    <xs:simpleContent>
      <xs:extension base="xs:double"><xs:attribute name="name" type="xs:string"/></xs:extension>
    </xs:simpleContent>
  </xs:complexType>
  <xs:complexType name="truth">
    <xs:simpleContent>
      <xs:extension base="xs:boolean"><xs:attribute name="name" type="xs:string"/></xs:extension>
    </xs:simpleContent>
  </xs:complexType>
  <xs:complexType name="nothing">
    <xs:attribute name="name" type="xs:string"/>
  </xs:complexType>
</xs:schema>
`;
